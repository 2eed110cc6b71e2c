/** One small change of a program, after which the scenario of its block has to fail. */
export interface Mutant {
  /** The identifier of the block that it is tried on. */
  readonly block: string
  /** Below the root of the repository. */
  readonly file: string
  readonly line: number
  /** What was written there, and what is there now; with the file and the block its name. */
  readonly change: string
  /** Whether it breaks what a pin promises: a builder would notice. */
  readonly promised: boolean
  /** How to make it. */
  readonly by: Edits | Switch
}

/** The file is loaded again with these replacements. */
export interface Edits {
  readonly kind: 'edits'
  readonly edits: readonly Edit[]
}

/** The change is in the loaded program already and is turned on by this name. */
export interface Switch {
  readonly kind: 'switch'
  readonly name: string
}

/** Replaces a range of a text. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

export const nameOf = ({ block, file, change }: Pick<Mutant, 'block' | 'file' | 'change'>): string =>
  `${block} | ${file} | ${change}`

/** Applied from the end, so that no place moves. Ranges must not overlap. */
export function edited(text: string, edits: readonly Edit[]): string {
  const sorted = edits.toSorted((a, b) => b.start - a.start)
  return sorted.reduce(
    (result, { start, end, text }) => result.slice(0, start) + text + result.slice(end),
    text,
  )
}

/** The change as one line that a person recognises. */
export function changeOf(text: string, edits: readonly Edit[]): string {
  const [first, ...rest] = edits
  if (first === undefined) return ''
  const before = oneLine(text.slice(first.start, first.end))
  const after = oneLine(first.text)
  return `${before} → ${after}${rest.length > 0 ? ` (${edits.length} places)` : ''}`
}

const oneLine = (text: string) => {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 90 ? `${line.slice(0, 87)}…` : line || 'nothing'
}
