/** Texts of the sign-in form and of requests, apart from all others: they are loaded before the studio is. */
export const signInTexts = {
  title: 'Sign in · Quoin',
  signIn: 'Sign in',
  signInWith: (title: string) => `Sign in with ${title}`,
  signInWithPasskey: 'Sign in with a passkey',
  noPasskey: 'The device gave no passkey.',
  usePasskey: 'Use a passkey',
  signInToQuoin: 'Sign in to Quoin',
  sessionExpired: 'Your session has expired. What you typed is still here: sign in again to continue.',
  sessionEnded: 'Your session has ended. Sign in again to go on; what you typed is kept.',
  signInAgain: 'Sign in again',
  notSignedIn: 'You are not signed in',
  tryingAgain: 'You are signed in. What you typed is sent as soon as the server says who you are',
  notLoaded: 'The studio could not be loaded. Reload the page: there may be a newer version.',
  usernameOrEmail: 'User name or e-mail',
  password: 'Password',
  show: 'Show',
  hide: 'Hide',
  code: 'Code',
  codeHelp: 'Enter the code that your authenticator app shows, or one of your recovery codes.',
  setupHelp:
    'Your account needs a second factor. Scan the picture with an authenticator app, or type the key into it. Then enter the code that it shows.',
  setupPasskey:
    'Or set up a passkey in place of the app. It signs you in with the fingerprint, face or PIN of your device.',
  passkey: 'Passkey',
  passkeyName: 'Name of the passkey',
  addPasskey: 'Add a passkey',
  qrCode: 'QR code with the key',
  key: 'Key',
  goOn: 'Continue',
  recoveryCodes: 'Your recovery codes',
  recoveryHelp:
    'Each code signs you in once without the app. Store them in a safe place: they are not shown again.',
  storedThem: 'I have stored them',
  confirmTitle: 'Confirm that it is you',
  confirmHelp: 'This needs a sign-in of the last five minutes.',
  confirmBeside:
    'Sign in again in the tab that opens, then come back to this one. What you were doing is still here.',
  confirm: 'Confirm',
  cancel: 'Cancel',
  notConfirmed: 'Not confirmed',
  staySignedIn: 'Stay signed in on this machine',
  firstStart: 'First start? The user is admin, and the password was printed once in the terminal of Quoin.',
} as const

/** Texts of requests that fail before or without an answer of the server. */
export const apiTexts = {
  unreachable:
    'The server does not answer. Check that it runs and that this machine is connected, then try again.',
  partMissing: 'A part of the studio could not be fetched. Reload the page when the server answers again.',
  proxyFailed: (status: number) => `Something in front of Quoin answered ${status}. Try again in a moment.`,
  failedWithoutReason: (status: number) => `The server answered ${status} and did not say why.`,
  other: 'Other',
  recordGone:
    'This record is no longer there: logs are kept for the days of the setting “Keep logs” (QUOIN_KEEP_LOGS).',
  cancelled: 'Cancelled.',
  notSavedForDispute:
    'Nothing was saved: another person has changed the same meanwhile. Save again to choose what stays.',
} as const
