/**
 * A blueprint as a tree that can be read from top to bottom. Each trigger is followed by its steps, one under the other;
 * a step holds the pins that are needed or used, and a pin holds the pulled block that gives its value; its other pins are
 * folded into one row. Blocks are named by what they do, as on the canvas. What happens on another way out
 * (`not_found`, `false`) is a branch with steps of its own. A step that several ways lead to is told once and referred to
 * then. What hangs together with no trigger is listed at the end.
 */
import type { BlockContent, SavedInPin } from '../../../shared/blueprint.ts'
import { countsTexts, modelTexts } from '../../texts/editor.ts'
import { referencesOf } from '../expressions/references.ts'
import type { Catalogue } from './block-description.ts'
import { type Flow, inPinOf, wiresOf } from './flow.ts'
import { pinsOf } from './pins/pins.ts'
import { shownPins } from './pins/shown-pins.ts'
import { wordsOf } from './words/block-labels.ts'
import { cut, short } from './words/block-names.ts'

/** Characters of the title of a block that another row names. */
const MOST_OF_TITLE = 48
/** So many pins of a block without any value are shown. */
const MOST_UNUSED = 8

export interface OutlineItem {
  /** The way to it: a pulled block that is used twice is in the tree twice. */
  readonly id: string
  readonly kind: 'block' | 'pin' | 'more' | 'branch' | 'reference' | 'group'
  readonly label: string
  /** What stands behind the label: the pin's value or where it comes from. */
  readonly detail: string
  /** The block it belongs to; empty for a group. */
  readonly block: string
  /** For a pin its id, for a branch the out-pin's. */
  readonly pin: string
  readonly children: readonly OutlineItem[]
}

export function outlineOf(flow: Flow, catalogue: Catalogue): OutlineItem[] {
  const tree = new OutlineTree(flow, catalogue)
  const roots = tree.triggers()
  const loose = tree.loose()
  if (loose.length === 0) return roots
  const group = {
    id: 'loose',
    kind: 'group',
    label: modelTexts.notConnected,
    detail: '',
    block: '',
    pin: '',
  } as const
  return [...roots, { ...group, children: loose }]
}

/** Makes the items of a flow; it knows which blocks it has already listed. */
class OutlineTree {
  readonly #flow: Flow
  readonly #catalogue: Catalogue
  readonly #behind: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>
  readonly #read: ReadonlyMap<string, ReturnType<typeof referencesOf>>
  readonly #reported = new Set<string>()

  constructor(flow: Flow, catalogue: Catalogue) {
    this.#flow = flow
    this.#catalogue = catalogue
    this.#behind = flowTargets(flow)
    this.#read = Map.groupBy(referencesOf(flow), ({ to }) => `${to.block} ${to.pin}`)
  }

  triggers(): OutlineItem[] {
    return byPlace(this.#flow)
      .filter(([, { type }]) => this.#catalogue.get(type)?.kind === 'trigger')
      .map(([guid, content]) => this.#triggerItem(guid, content))
  }

  /** What hangs together with no trigger; after the triggers. */
  loose(): OutlineItem[] {
    const loose: OutlineItem[] = []
    const starts = byPlace(this.#flow).filter(([guid]) => !this.#reported.has(guid))
    // Blocks that others hang on come first, so that the rest is told below them.
    for (const [guid] of starts.toSorted(
      ([a], [b]) => Number(this.#hasSource(a)) - Number(this.#hasSource(b)),
    )) {
      if (!this.#reported.has(guid)) loose.push(...this.#steps(guid, 'loose'))
    }
    return loose
  }

  #hasSource(guid: string): boolean {
    return (inPinOf(this.#flow.get(guid), 'flow')?.from?.length ?? 0) > 0
  }

  #triggerItem(guid: string, content: BlockContent): OutlineItem {
    const item = this.#blockItem(guid, content, guid)
    const first = this.#behind.get(guid)?.get('flow') ?? []
    return { ...item, children: [...item.children, ...first.flatMap((step) => this.#steps(step, item.id))] }
  }

  /** A row of steps that follow each other by their `flow` pins. */
  #steps(start: string, path: string): OutlineItem[] {
    const row: OutlineItem[] = []
    for (let guid: string | undefined = start; guid !== undefined; ) {
      const content = this.#flow.get(guid)
      if (!content) break
      if (this.#reported.has(guid)) {
        row.push(this.#referenceItem(guid, path))
        break
      }
      row.push(this.#blockItem(guid, content, path))
      guid = this.#behind.get(guid)?.get('flow')?.[0]
    }
    return row
  }

  #blockItem(guid: string, content: BlockContent, path: string): OutlineItem {
    this.#reported.add(guid)
    const id = path === guid ? guid : `${path}/${guid}`
    const shown = new Set(shownPins(this.#flow, this.#catalogue, guid).in)
    const pins = [...pinsOf(content, this.#catalogue).in]
      .filter(([, pin]) => pin.type !== 'flow')
      .map(([pin]) => this.#pinItem(guid, content, pin, id))
    const used = pins.filter(({ pin }) => shown.has(pin))
    const rest = pins.filter(({ pin }) => !shown.has(pin))
    // A row for one would be no shorter, and a block with nothing in it is about to be filled.
    const isShort = rest.length < 2 || (used.length === 0 && rest.length <= MOST_UNUSED)
    const { title, kind } = wordsOf(this.#flow, this.#catalogue, guid)
    return {
      id,
      kind: 'block',
      label: title,
      detail: kind,
      block: guid,
      pin: '',
      children: [
        ...used,
        ...(isShort ? rest : [this.#folded(guid, rest, id)]),
        ...this.#branches(guid, content, id),
      ],
    }
  }

  #folded(block: string, children: readonly OutlineItem[], path: string): OutlineItem {
    const label = countsTexts.unusedPins(children.length)
    return { id: `${path}+`, kind: 'more', label, detail: '', block, pin: '', children }
  }

  #titleOf(guid: string): string {
    return cut(wordsOf(this.#flow, this.#catalogue, guid).title, MOST_OF_TITLE)
  }

  #branches(guid: string, content: BlockContent, id: string): OutlineItem[] {
    const isTrigger = this.#catalogue.get(content.type)?.kind === 'trigger'
    return [...pinsOf(content, this.#catalogue).out].flatMap(([pin, { type }]) => {
      const targets = this.#behind.get(guid)?.get(pin) ?? []
      const others = pin === 'flow' ? (isTrigger ? [] : targets.slice(1)) : targets
      if (type !== 'flow' || others.length === 0) return []
      const path = `${id}>${pin}`
      const children = others.flatMap((target) => this.#steps(target, path))
      const label = pin === 'flow' ? modelTexts.atTheSameTime : modelTexts.on(pin)
      return [{ id: path, kind: 'branch' as const, label, detail: '', block: guid, pin, children }]
    })
  }

  #pinItem(guid: string, content: BlockContent, pin: string, path: string): OutlineItem {
    const id = `${path}.${pin}`
    const saved = inPinOf(content, pin)
    const ends = saved?.from ?? []
    const named = (this.#read.get(`${guid} ${pin}`) ?? []).map(({ from }) => from)
    const sources = new Map([...ends, ...named].map((end) => [end.block, end]))
    const children = [...sources.values()].flatMap((end): OutlineItem[] => {
      const source = this.#flow.get(end.block)
      if (!source || this.#catalogue.get(source.type)?.kind !== 'value' || path.includes(end.block)) return []
      return [this.#blockItem(end.block, source, id)]
    })
    const texts = ends.map((end) =>
      modelTexts.fromPin(
        this.#flow.has(end.block) ? this.#titleOf(end.block) : modelTexts.aRemovedBlock,
        end.pin,
      ),
    )
    const detail = texts.length > 0 ? texts.join(', ') : heldText(saved)
    return { id, kind: 'pin', label: pin, detail, block: guid, pin, children }
  }

  #referenceItem(guid: string, path: string): OutlineItem {
    const label = modelTexts.continuesWith(this.#titleOf(guid))
    return { id: `${path}~${guid}`, kind: 'reference', label, detail: '', block: guid, pin: '', children: [] }
  }
}

/** The value or the expression that a pin holds itself. */
function heldText(saved: SavedInPin | undefined): string {
  if (saved?.expression !== undefined) return `= ${cut(saved.expression, 60)}`
  return saved?.value === undefined ? '' : short(saved.value)
}

/** Blocks behind each flow out-pin. */
function flowTargets(flow: Flow): Map<string, Map<string, string[]>> {
  const targets = new Map<string, Map<string, string[]>>()
  for (const { from, to } of wiresOf(flow)) {
    if (to.pin !== 'flow') continue
    const pins = targets.get(from.block) ?? new Map<string, string[]>()
    pins.set(from.pin, [...(pins.get(from.pin) ?? []), to.block])
    targets.set(from.block, pins)
  }
  return targets
}

function byPlace(flow: Flow): [string, BlockContent][] {
  return [...flow].toSorted(([, a], [, b]) => a.position.y - b.position.y || a.position.x - b.position.x)
}

/** What is shown of the tree, in order: children of what is open. */
export function shownItems(
  items: readonly OutlineItem[],
  open: ReadonlySet<string>,
  level = 1,
): { readonly item: OutlineItem; readonly level: number; readonly at: number; readonly of: number }[] {
  return items.flatMap((item, index) => [
    { item, level, at: index + 1, of: items.length },
    ...(open.has(item.id) ? shownItems(item.children, open, level + 1) : []),
  ])
}
