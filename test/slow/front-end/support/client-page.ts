import type { Page } from 'playwright-core';

/** Resolves once the page shows this text. */
export const shows = (page: Page, text: string) => page.getByText(text, { exact: true }).waitFor();

/** Resolves once the page has looked the user up. */
export const loggedIn = (page: Page) => shows(page, 'Hello, The person ada');

/** Resolves once the page says that nobody is logged in. */
export const loggedOut = (page: Page) => shows(page, 'Nobody');

/** Goes through the pages of the provider. */
export async function authorize(page: Page, login = 'ada'): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

/** Goes from the page's button to its page after the login. */
export async function logIn(page: Page): Promise<void> {
  await startLogIn(page, 'ada');
  await loggedIn(page);
}

/** Goes from the page's button through the pages of the provider. */
export async function startLogIn(page: Page, login: string): Promise<void> {
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await authorize(page, login);
}

/** Goes from the page's button to the provider, and back without a login. */
export async function cancel(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByText('Cancel').click();
}

/** Counts the lookups of the user that the page starts. */
export function countLookUps(page: Page): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes('/api/user')) count += 1;
  });
  return () => count;
}

/** Opens the popup of the page, which loses the focus to it: without a desktop, every page thinks that it has it. */
export async function openPopup(page: Page): Promise<Page> {
  await page.evaluate('document.hasFocus = () => false');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: 'Log in in a popup' }).click(),
  ]);
  return popup;
}
