import { useEffect, useState } from 'react';

/** Looks the user up with each new token. */
export function User({ relay, token }) {
  const [text, setText] = useState('Nobody');
  useEffect(() => {
    const controller = new AbortController();
    lookUp(relay, token, controller.signal).then(setText, () => {});
    return () => controller.abort();
  }, [relay, token]);
  return <p role="status">{text}</p>;
}

async function lookUp(relay, token, signal) {
  if (!token) return 'Nobody';
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${relay}/api/user`, { headers, signal });
  if (!response.ok) return `Not logged in: ${response.status}`;
  return `Hello, ${(await response.json()).name}`;
}
