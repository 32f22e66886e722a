type Channel = 'postMessage' | 'BroadcastChannel';

/** A front end that logs in through a popup. The popup ends at the same page. */
export function popupPage(relay: string, channel: Channel): string {
  const broadcast = channel === 'BroadcastChannel';
  return `<!doctype html>
<title>Front end</title>
<button>Log in</button>
<p role="status">Nobody</p>
<script>
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  history.replaceState(null, '', location.pathname);
  const channel = new BroadcastChannel('login');
  const status = document.querySelector('p');

  async function take({ access_token: token, error }) {
    if (error) return status.textContent = error;
    sessionStorage.setItem('token', token);
    const headers = { Authorization: 'Bearer ' + token };
    const user = await (await fetch('${relay}/api/user', { headers })).json();
    status.textContent = 'Hello, ' + user.name;
  }

  if (answer.access_token || answer.error) {
    ${broadcast ? 'channel' : 'opener'}.postMessage(answer${broadcast ? '' : ', location.origin'});
    close();
  }
  ${
    broadcast
      ? 'channel.onmessage = ({ data }) => take(data);'
      : 'onmessage = ({ origin, data }) => origin === location.origin && take(data);'
  }
  document.querySelector('button').onclick = () =>
    open('${relay}/auth/provider', 'login', 'popup,width=480,height=640${broadcast ? ',noopener' : ''}');
</script>`;
}
