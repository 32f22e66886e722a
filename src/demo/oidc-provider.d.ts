declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  export const createMemoryAdapter: () => import('oidc-provider').AdapterFactory;
}

declare module 'oidc-provider/lib/provider.js' {
  export { Provider } from 'oidc-provider';
}

declare module 'oidc-provider/lib/helpers/errors.js' {
  export const SessionNotFound: typeof import('oidc-provider').errors.SessionNotFound;
}

declare module 'oidc-provider/lib/helpers/interaction_policy/index.js' {
  export const base: typeof import('oidc-provider').interactionPolicy.base;
}
