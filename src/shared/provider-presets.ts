/** What to begin with for a provider that is known: a builder fills in what is in braces. */
export const providerPresets = [
  { preset: 'Google', kind: 'oidc', issuer: 'https://accounts.google.com', scopes: 'openid email profile' },
  {
    preset: 'Microsoft',
    kind: 'oidc',
    issuer: 'https://login.microsoftonline.com/{tenant}/v2.0',
    scopes: 'openid email profile',
  },
  { preset: 'GitHub', kind: 'github', issuer: 'https://github.com', scopes: 'read:user user:email' },
  {
    preset: 'Keycloak',
    kind: 'oidc',
    issuer: 'https://{host}/realms/{realm}',
    scopes: 'openid email profile',
  },
  {
    preset: 'Authentik',
    kind: 'oidc',
    issuer: 'https://{host}/application/o/{application}/',
    scopes: 'openid email profile',
  },
] as const
