/** What a block does, in words made of its values, so that no two blocks of one kind look alike. */
import type { BlockDescription } from '../../../../shared/api/blocks/blocks.ts'
import type { BlockContent, SavedInPin } from '../../../../shared/blueprint.ts'
import { isJsonObject, type JsonValue } from '../../../../shared/json.ts'
import { eventWords } from '../../../../shared/names/event-words.ts'
import { cronLabels } from '../../../controls/cron-labels.ts'
import { countsTexts, modelTexts } from '../../../texts/editor.ts'
import { namesInFlow } from '../../expressions/block-refs.ts'
import type { Catalogue } from '../block-description.ts'
import { type Flow, inPinOf, type PinPlace } from '../flow.ts'
import { cut } from './block-names.ts'

export interface BlockLabels {
  /** `Search tasks where doc.status == params.status`. The title that a person gave wins. */
  readonly title: string
  /** Kind and name, `Search documents · search`: the name is unique in a blueprint. */
  readonly kind: string
  /** What expressions call it. The canvas cuts the kind before this. */
  readonly name: string
}

/** Characters of one value. */
const MOST_OF_VALUE = 48
/** Wires from value blocks are told by what those do, and these by theirs, so far. */
const DEEPEST = 2

/** Wires into one pin that are told. */
const MOST_WIRES = 4

const known = new WeakMap<Flow, { catalogue: Catalogue; words: ReadonlyMap<string, BlockLabels> }>()
const none: BlockLabels = { title: '', kind: '', name: '' }

/** Title and kind of a block. What is wired is told by the block that the wire comes from. */
export function wordsOf(flow: Flow, catalogue: Catalogue, guid: string): BlockLabels {
  const before = known.get(flow)
  const words = before?.catalogue === catalogue ? before.words : allWords(flow, catalogue)
  if (before?.words !== words) known.set(flow, { catalogue, words })
  return words.get(guid) ?? none
}

/** Blocks that would have the same title have their name in it. */
function allWords(flow: Flow, catalogue: Catalogue): ReadonlyMap<string, BlockLabels> {
  const names = namesInFlow(flow)
  const titles = [...flow].map(([guid, content]): [string, string] => [
    guid,
    content.title ||
      saidOf(flow, catalogue, content, 0) ||
      (catalogue.get(content.type)?.title ?? content.type),
  ])
  const times = new Map<string, number>()
  for (const [, title] of titles) times.set(title, (times.get(title) ?? 0) + 1)
  return new Map(
    titles.map(([guid, title]) => {
      const type = flow.get(guid)?.type ?? ''
      const name = names.get(guid) ?? ''
      const kind = catalogue.get(type)?.title ?? type
      const isShared = (times.get(title) ?? 0) > 1
      return [guid, { title: isShared ? `${title} (${name})` : title, kind: `${kind} · ${name}`, name }]
    }),
  )
}

function saidOf(flow: Flow, catalogue: Catalogue, content: BlockContent, depth: number): string {
  const description = catalogue.get(content.type)
  if (!description) return ''
  const text = (pin: string) => textOf(flow, catalogue, content, pin, depth)
  const said = description.words === undefined ? '' : filled(description.words, text)
  // An address may be written with its first slash.
  return said === '' ? listed(description, text) : said.replace(/(^| )\/{2,}/g, '$1/')
}

/** The words with their values; empty where one that is not in brackets has none. */
function filled(words: string, text: (pin: string) => string): string {
  let isWhole = true
  const put = (part: string, optional: boolean): string => {
    let found = true
    const done = part.replace(/\{([^}]+)\}/g, (_all, names: string) => {
      const value = names.split('|').map(text).find(Boolean) ?? ''
      if (value === '') found = false
      return value
    })
    if (found) return done
    if (!optional) isWhole = false
    return ''
  }
  const parts = words.split(/(\[[^\]]*\])/)
  const said = parts.map((part) => (part.startsWith('[') ? put(part.slice(1, -1), true) : put(part, false)))
  return isWhole ? said.join('').trim() : ''
}

/** For a block without words of its own: its title and the values of the first pins that have one. */
function listed({ title, in: pins }: BlockDescription, text: (pin: string) => string): string {
  const telling = Object.entries(pins).filter(([, { type }]) => !silent.has(type))
  const needed = telling.filter(([, { required }]) => required)
  const values = [...needed, ...telling.filter((one) => !needed.includes(one))]
    .map(([pin]) => text(pin))
    .filter(Boolean)
    .slice(0, 2)
  return values.length === 0 ? '' : `${title}: ${values.join(', ')}`
}

/** What comes in at these says when or where a block runs, not what it does. */
const silent: ReadonlySet<string> = new Set(['flow', 'connection', 'state'])

/** A pin's or setting's value as a builder would say it; empty without one. */
function textOf(flow: Flow, catalogue: Catalogue, content: BlockContent, pin: string, depth: number): string {
  const saved = inPinOf(content, pin)
  if (saved?.from && saved.from.length > 0) {
    const ends = saved.from
      .slice(0, MOST_WIRES)
      .map((end) => wiredText(flow, catalogue, end, depth))
      .filter(Boolean)
    return cut(ends.join(', '), MOST_OF_VALUE)
  }
  const said = saved ? heldText(saved) : valueText(content.fields[pin])
  // The words of a schedule name no `At`: most are `Every day at 03:00`.
  if (pin === 'cron' && said !== '') return cronLabels(said) ?? modelTexts.atCron(cut(said, MOST_OF_VALUE))
  return cut(pin === 'events' ? said.replace(/\bon_\w+/g, eventWords) : said, MOST_OF_VALUE)
}

function wiredText(flow: Flow, catalogue: Catalogue, { block, pin }: PinPlace, depth: number): string {
  const source = flow.get(block)
  if (!source) return ''
  const description = catalogue.get(source.type)
  if (description?.kind === 'value' && depth < DEEPEST) {
    const said = source.title || (description.words ? saidOf(flow, catalogue, source, depth + 1) : '')
    if (said !== '') return said
  }
  return `${namesInFlow(flow).get(block) ?? ''}.${pin}`
}

function heldText({ value, expression }: SavedInPin): string {
  return expression === undefined ? valueText(value) : expression.trim()
}

function valueText(value: JsonValue | undefined): string {
  if (value === undefined || value === null || value === '') return ''
  if (typeof value === 'string') return value
  // An operation of a foreign API.
  if (isJsonObject(value) && typeof value.title === 'string' && 'pins' in value) return value.title
  if (!Array.isArray(value)) return JSON.stringify(value)
  const entries = value.map(entryText)
  return entries.every((one) => one !== undefined) ? entries.join(', ') : JSON.stringify(value)
}

/** What an entry of a list is called, such as a link by its label; undefined for an object that says nothing of the kind. */
function entryText(entry: JsonValue): string | undefined {
  if (typeof entry !== 'object' || entry === null) return String(entry)
  if (!isJsonObject(entry)) return undefined
  return [entry.label, entry.name, entry.field]
    .find((one) => typeof one === 'string' && one !== '')
    ?.toString()
}

/** `1 problem, 2 warnings`: problems keep a blueprint from running, as fields do that are still to be filled in; warnings do not. */
export function foundLabels(problems: number, warnings: number, needed = 0): string {
  const parts = [
    problems > 0 && countsTexts.problems(problems),
    needed > 0 && countsTexts.neededFields(needed),
    warnings > 0 && countsTexts.warnings(warnings),
  ]
  return parts.filter((part) => part !== false).join(', ') || modelTexts.noProblems
}
