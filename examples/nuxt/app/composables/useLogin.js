import { computed, onMounted, onUnmounted, shallowReactive, toRefs } from 'vue';
import { login } from '../utils/login';

export function useLogin() {
  const state = shallowReactive({ user: undefined, error: undefined }); // null: not logged in
  const fail = (error) => Object.assign(state, { error });
  const show = () => login.user().then((user) => Object.assign(state, { user }), fail);
  onMounted(() => login.ready.catch(fail).then(show));
  onUnmounted(login.onChange(show));
  const logIn = (request) => {
    state.error = undefined;
    login.login(request).catch(fail);
  };
  const isLoading = computed(() => state.user === undefined && !state.error);
  return { ...toRefs(state), isLoading, logIn, logOut: () => login.logout() };
}
