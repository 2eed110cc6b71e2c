/** Texts of the settings of a server. */
export const settingsTexts = {
  is: (name: string, text: string) => `${name} is ${text}`,
  hasItsDefaultAgain: (name: string) => `${name} has its default again`,
  save: 'Save',
  reset: (name: string) => `Reset ${name}`,
  resetTo: (defaultName: string) => `Reset to ${defaultName}`,
  environment: 'environment',
  set: 'set',
  default: 'default',
  notSet: 'not set',
  setNeverShown: 'set, never shown',
  empty: 'empty',
  aSetting: 'a setting',
  theSetting: (stored: string) => `the setting ${stored}`,
  overridden: (name: string, what: string) =>
    `The environment of this node sets ${name}, which overrides ${what}.`,
  needsRestart: (name: string) => `Needs a restart: ${name} in the environment.`,
  settings: 'Settings',
  settingsAbout:
    'Options of the server. A change takes effect on every node at once; the environment of a node overrides it.',
  searchSettings: 'Search settings',
  couldNotLoadSettings: 'Could not load the settings',
  changeWithoutARestart: 'Change without a restart',
  needARestart: 'Need a restart',
  noMatch: 'No setting has these words.',
} as const
