import type { BlockContent } from '../../../shared/blueprint.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Flow } from '../model/flow.ts'
import { type BlockLabels, wordsOf } from '../model/words/block-labels.ts'
import { cut } from '../model/words/block-names.ts'

export interface FoundBlock {
  readonly guid: string
  readonly words: BlockLabels
  /** Where the words were found beside the title: `limit: params.limit ?? 20`. */
  readonly place: string
}

/** Blocks that every word is found in: titles, names, kinds, comments, values, expressions and settings. Titles come first. */
export function findBlocks(flow: Flow, catalogue: Catalogue, text: string): FoundBlock[] {
  const searched = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = [...flow].flatMap(([guid, content]) => {
    const words = wordsOf(flow, catalogue, guid)
    const head = `${words.title} ${words.kind}`.toLowerCase()
    const lines = linesOf(content)
    const all = `${head} ${lines.join(' ').toLowerCase()}`
    if (!searched.every((word) => all.includes(word))) return []
    const isHead = searched.every((word) => head.includes(word))
    const place = isHead ? '' : (lines.find((line) => hasOne(line, searched, head)) ?? '')
    return [{ guid, words, place: cut(place, 80), isHead }]
  })
  return found
    .toSorted((a, b) => Number(b.isHead) - Number(a.isHead))
    .map(({ guid, words, place }) => ({ guid, words, place }))
}

function hasOne(line: string, searched: readonly string[], head: string): boolean {
  const small = line.toLowerCase()
  return searched.some((word) => !head.includes(word) && small.includes(word))
}

function linesOf({ type, description, in_pins, fields }: BlockContent): string[] {
  const pins = in_pins.flatMap(({ id, value, expression }) => {
    if (expression !== undefined) return [`${id}: ${expression}`]
    return value === undefined ? [] : [`${id}: ${typeof value === 'string' ? value : JSON.stringify(value)}`]
  })
  const settings = Object.entries(fields).map(
    ([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [...pins, ...settings, description, type]
}
