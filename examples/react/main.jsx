import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter, Link, Route, Routes } from 'react-router';
import { login, useLogin } from './login.js';

function Home() {
  return (
    <>
      <h1>React</h1>
      <Link to="/profile">Your profile</Link>
    </>
  );
}

function Profile() {
  const { user, problem } = useLogin();
  return (
    <>
      <h1>Your profile</h1>
      {user === null && <p>You are not logged in.</p>}
      {user && <p>Hello, {user.name}</p>}
      {problem && <p role="alert">{problem.message}</p>}
      <button type="button" onClick={() => login.login()}>
        Log in
      </button>
      <button type="button" onClick={() => login.logout()}>
        Log out
      </button>
    </>
  );
}

createRoot(document.getElementById('page')).render(
  <StrictMode>
    <BrowserRouter>
      <Routes>
        <Route path="/" element={<Home />} />
        <Route path="/profile" element={<Profile />} />
      </Routes>
    </BrowserRouter>
  </StrictMode>,
);
