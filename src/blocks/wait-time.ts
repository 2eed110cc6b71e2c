import type { Wait } from './context.ts'

/** Ten years in milliseconds. */
export const LONGEST_WAIT = 3_660 * 86_400_000

/** Settings of every block that waits. */
export const waitSettings = {
  title: {
    kind: 'text',
    default: '',
    help: 'What the run waits for, in the list of waiting runs. Empty: the block says it.',
  },
  version: {
    kind: 'choice',
    options: ['same', 'current'],
    default: 'same',
    help: 'same: the run continues on the version of the blueprint that it began with. current: on the deployed version, if that still has the block.',
  },
} as const

/** What the setting `version` says. */
export function versionIn({ version }: { readonly version: string }): Wait['version'] {
  return version === 'current' ? 'current' : 'same'
}
