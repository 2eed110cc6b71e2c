/** The code of CONTRIBUTING.md: what each recipe adds to the repository, piece by piece. */

export interface Piece {
  /** The heading of the recipe, such as `Add a block`. */
  readonly recipe: string
  readonly file: string
  /** A line that holds this text comes before it; undefined for a file of its own. */
  readonly below: string | undefined
  readonly text: string
}

/** Fenced blocks whose first line names a file: ```` ```ts src/file.ts below some text ````. */
export function recipePieces(page: string): readonly Piece[] {
  const pieces: Piece[] = []
  let recipe = ''
  let open: { readonly indent: string; readonly head: string; readonly lines: string[] } | undefined
  for (const line of page.split('\n')) {
    if (open === undefined) {
      recipe = /^## (.*)/.exec(line)?.[1] ?? recipe
      const [, indent = '', head = ''] = /^( *)```\w+ (.+)/.exec(line) ?? []
      if (head !== '') open = { indent, head, lines: [] }
    } else if (line === `${open.indent}\`\`\``) {
      const [file = '', below] = open.head.split(' below ')
      pieces.push({ recipe, file, below, text: `${open.lines.join('\n')}\n` })
      open = undefined
    } else open.lines.push(line.slice(open.indent.length))
  }
  return pieces
}

/** The text with the lines behind the one that holds `below`. Throws unless exactly one does. */
export function insertedBelow(text: string, below: string, lines: string): string {
  const all = text.split('\n')
  const places = all.flatMap((line, place) => (line.includes(below) ? [place] : []))
  const [place] = places
  if (place === undefined || places.length > 1)
    throw new Error(`${places.length} lines hold ${JSON.stringify(below)}.`)
  return [...all.slice(0, place + 1), ...lines.trimEnd().split('\n'), ...all.slice(place + 1)].join('\n')
}
