import { logIn } from './login.js';

const relay = 'https://login.example.com/auth/github';

chrome.action.onClicked.addListener(async () => {
  try {
    const { access_token } = await logIn(relay, 'extension');
    const headers = { Authorization: `Bearer ${access_token}` };
    const { login } = await (await fetch(new URL('/api/user', relay), { headers })).json();
    await chrome.action.setTitle({ title: `You are ${login}` });
  } catch ({ message }) {
    await chrome.action.setTitle({ title: `You are not logged in: ${message}` });
  }
});
