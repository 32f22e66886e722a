/** The cores: one for the server alone, one for the load and the provider. */
export const cores = { server: 0, load: 1 } as const;
