import type { Command } from './commands.ts'

/** The commands whose label, group or words hold every word of the search; those whose label begins with it first. */
export function findCommands(all: readonly Command[], typed: string): Command[] {
  const words = plain(typed)
    .split(/\s+/)
    .filter((word) => word !== '')
  if (words.length === 0) return [...all]
  return all
    .map((command) => ({ command, rank: rank(command, words) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank)
    .map(({ command }) => command)
}

function rank({ label, group, words = '' }: Command, typed: readonly string[]): number {
  const name = plain(label)
  const text = `${name} ${plain(group)} ${plain(words)}`
  if (!typed.every((word) => text.includes(word))) return 0
  const [first = ''] = typed
  if (name.startsWith(first)) return 3
  return typed.every((word) => name.includes(word)) ? 2 : 1
}

/** Without case and accents. */
function plain(text: string): string {
  return text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
}
