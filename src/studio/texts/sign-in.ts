/** Texts of the sign-in form, apart from all others: they are loaded before the studio is. */
export const signInTexts = {
  title: 'Sign in · Quoin',
  signIn: 'Sign in',
  signInToQuoin: 'Sign in to Quoin',
  sessionExpired: 'Your session has expired. What you typed is still here: sign in again to continue.',
  notSignedIn: 'You are not signed in',
  notLoaded: 'The studio could not be loaded. Reload the page: there may be a newer version.',
  usernameOrEmail: 'User name or e-mail',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  staySignedIn: 'Stay signed in on this machine',
  firstStart: 'First start? The user is admin, and the password was printed once in the terminal of Quoin.',
} as const
