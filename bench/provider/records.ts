const tokenForm = /^gho_0*(\d+)$/;

/** The access token of a user. */
export function accessTokenOf(user: number): string {
  return `gho_${String(user).padStart(36, '0')}`;
}

/** The user whose token it is, or undefined where nobody's. */
export function userOf(accessToken: string): number | undefined {
  const digits = tokenForm.exec(accessToken)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The record of a user as JSON, of the size and shape that GitHub's is. */
export function recordOf(user: number): string {
  return `{"login":"user-${user}","id":${user}${rest}`;
}

const api = 'https://api.provider.example/users/octocat';
const rest = JSON.stringify({
  node_id: 'MDQ6VXNlcjU4MzIzMQ==',
  avatar_url: 'https://avatars.provider.example/u/583231?v=4',
  gravatar_id: '',
  url: api,
  html_url: 'https://provider.example/octocat',
  followers_url: `${api}/followers`,
  following_url: `${api}/following{/other_user}`,
  gists_url: `${api}/gists{/gist_id}`,
  starred_url: `${api}/starred{/owner}{/repo}`,
  subscriptions_url: `${api}/subscriptions`,
  organizations_url: `${api}/orgs`,
  repos_url: `${api}/repos`,
  events_url: `${api}/events{/privacy}`,
  received_events_url: `${api}/received_events`,
  type: 'User',
  site_admin: false,
  name: 'The Octocat',
  company: '@provider',
  blog: 'https://blog.provider.example',
  location: 'San Francisco',
  email: null,
  hireable: null,
  bio: null,
  public_repos: 8,
  public_gists: 8,
  followers: 9001,
  following: 9,
  created_at: '2011-01-25T18:44:36Z',
  updated_at: '2026-01-22T12:13:14Z',
}).replace('{', ',');
