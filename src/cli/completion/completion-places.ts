/**
 * What can follow the words that were typed, as data from which the script of each shell is written. Nothing is asked of
 * Quoin while a user types: the commands and flags of one version are known.
 */
import type { Command } from '../command.ts'
import type { Completes } from '../read-words.ts'

export interface Choice {
  readonly word: string
  readonly help: string
}

/** After a command, or after `quoin` or the first word of some commands. */
export interface Place {
  /** `user create`; empty for `quoin` itself. */
  readonly words: string
  readonly choices: readonly Choice[]
  /** What the operands are. */
  readonly completes: Completes | undefined
  /** Flags that take a value, with what it is. */
  readonly values: readonly { readonly flag: string; readonly completes: Completes | undefined }[]
}

export function placesOf(commands: readonly Command[]): Place[] {
  const groups = [
    ...new Set(commands.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : []))),
  ]
  const first = commands
    .filter(({ name }) => !name.includes(' '))
    .map(({ name, summary }): Choice => ({ word: name, help: summary }))
  const more = [
    ...groups.map((word): Choice => ({ word, help: `Commands that begin with ${word}.` })),
    { word: 'help', help: 'Shows the options of a command.' },
    { word: '--version', help: 'Prints the version.' },
  ]
  const none = { completes: undefined, values: [] }
  return [
    { words: '', choices: [...first, ...more], ...none },
    { words: 'help', choices: [...first, ...more.slice(0, groups.length)], ...none },
    ...groups.map((group): Place => {
      const members = commands.filter(({ name }) => name.startsWith(`${group} `))
      return {
        words: group,
        choices: members.map(({ name, summary }) => ({ word: name.slice(group.length + 1), help: summary })),
        ...none,
      }
    }),
    ...commands.map(placeOf),
  ]
}

function placeOf({ name, flags, operands }: Command): Place {
  const listed = Object.entries(flags)
  return {
    words: name,
    choices: [
      ...listed.map(([flag, { help }]) => ({ word: `--${flag}`, help: help.split(/[.;\n]/)[0] ?? '' })),
      { word: '--help', help: 'Shows the options.' },
    ],
    completes: operands.find(({ completes }) => completes !== undefined)?.completes,
    values: listed
      .filter(([, { type }]) => type === 'string')
      .map(([flag, { completes }]) => ({ flag: `--${flag}`, completes })),
  }
}

/** In single quotes, as all three shells read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
