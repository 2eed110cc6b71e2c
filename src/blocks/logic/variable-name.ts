import type { Setting } from '../setting.ts'

/** The name of a variable of the run. Any text: it is compared, and never a name in code. */
export const variableName = {
  kind: 'text',
  required: true,
  help: 'Name of the variable. It lasts as long as the run, in custom functions that the run calls too.',
} as const satisfies Setting
