/** TLS 1.2 cipher suites for an EC certificate, with forward secrecy and authenticated encryption. */
export const strongSuites = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
] as const;

/** TLS 1.2 cipher suites for an EC certificate that encrypt in CBC mode, without authentication. */
export const weakSuites = [
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-ECDSA-AES128-SHA256',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-ECDSA-AES256-SHA384',
] as const;
