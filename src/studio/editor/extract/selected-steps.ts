/** Which blocks go along into a function, and where the flow enters and leaves them. */
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import { extractTexts } from '../../texts/canvas.ts'
import { linksOf } from '../expressions/references.ts'
import type { Catalogue } from '../model/block-description.ts'
import { type Flow, type PinPlace, type Wire, wireId, wiresOf } from '../model/flow.ts'
import { pinsOf } from '../model/pins/pins.ts'
import { wordsOf } from '../model/words/block-labels.ts'
import { refuse } from './parameters.ts'

export interface SelectedSteps {
  readonly guids: ReadonlySet<string>
  /** Where the flow enters. */
  readonly entry: PinPlace
  /** Wires that bring the flow to the entry. */
  readonly arriving: readonly Wire[]
  /** Wires on which the flow leaves the selection; all lead to the same pins. */
  readonly leaving: readonly Wire[]
  /** Blocks that a loop of the selection runs for each element: `item` is theirs. */
  readonly looped: ReadonlySet<string>
}

/** Throws ExtractRefused for what one call cannot do in its place. */
export function selectedSteps(
  flow: Flow,
  catalogue: Catalogue,
  selection: ReadonlySet<string>,
): SelectedSteps {
  const guids = ownBlocks(flow, catalogue, selection)
  const titleOf = (guid: string) => wordsOf(flow, catalogue, guid).title
  for (const guid of guids) checkBlock(descriptionOf(flow, catalogue, guid), titleOf(guid))
  const signals = wiresOf(flow).filter((wire) => isSignal(flow, catalogue, wire))
  const looped = loopedBlocks(flow, catalogue, guids, signals, titleOf)
  const arriving = signals.filter(({ from, to }) => !guids.has(from.block) && guids.has(to.block))
  const leaving = signals.filter(({ from, to }) => guids.has(from.block) && !guids.has(to.block))
  const [first, ...others] = distinct(arriving.map(({ to }) => to))
  if (!first) refuse(extractTexts.noWay)
  const [second] = others
  if (second) refuse(extractTexts.twoWaysIn(titleOf(first.block), titleOf(second.block)))
  const steps = { guids, entry: first, arriving, leaving, looped }
  if (leaving.length > 0) checkWaysOut(flow, catalogue, steps, signals)
  return steps
}

/** Values that blocks outside need too, and storages that they share, stay where they are. */
function ownBlocks(flow: Flow, catalogue: Catalogue, selection: ReadonlySet<string>): ReadonlySet<string> {
  const links = linksOf(flow)
  const guids = new Set([...selection].filter((guid) => flow.has(guid)))
  for (let isSettled = false; !isSettled; ) {
    isSettled = true
    for (const { from, to } of links) {
      if (!guids.has(from.block) || guids.has(to.block)) continue
      if (descriptionOf(flow, catalogue, from.block)?.kind !== 'value') continue
      guids.delete(from.block)
      isSettled = false
    }
  }
  return guids
}

function checkBlock(description: BlockDescription | undefined, title: string): void {
  if (!description) refuse(extractTexts.unknownBlock(title))
  if (description.kind === 'trigger') refuse(extractTexts.startsFlow(title))
  if (description.identifier === 'function_return') refuse(extractTexts.endsFunction(title))
  if (description.waits === true) refuse(extractTexts.waits(title))
  if (description.kind === 'value' && Object.values(description.out).some(({ type }) => type === 'flow'))
    refuse(extractTexts.partOfPage(title))
}

/** A loop and all of its steps go together. */
function loopedBlocks(
  flow: Flow,
  catalogue: Catalogue,
  guids: ReadonlySet<string>,
  signals: readonly Wire[],
  titleOf: (guid: string) => string,
): ReadonlySet<string> {
  const next = Map.groupBy(signals, ({ from }) => from.block)
  const found = new Set<string>()
  for (const loop of guids) {
    const body = descriptionOf(flow, catalogue, loop)?.body
    if (body === undefined) continue
    const open = (next.get(loop) ?? []).filter(({ from }) => from.pin === body).map(({ to }) => to.block)
    for (let guid = open.pop(); guid !== undefined; guid = open.pop()) {
      if (!guids.has(guid)) refuse(extractTexts.runsForEach(titleOf(loop), titleOf(guid)))
      if (found.has(guid)) continue
      found.add(guid)
      for (const { to } of next.get(guid) ?? []) open.push(to.block)
    }
  }
  return found
}

/** Behind a call the flow goes on in one way, whatever the function did. */
function checkWaysOut(
  flow: Flow,
  catalogue: Catalogue,
  { guids, leaving, looped }: SelectedSteps,
  signals: readonly Wire[],
): void {
  const titleOf = (guid: string) => wordsOf(flow, catalogue, guid).title
  const ways = Map.groupBy(leaving, ({ from }) => `${from.block}|${from.pin}`)
  const [first = [], ...others] = [...ways.values()]
  const targets = targetText(first)
  const other = others.find((wires) => targetText(wires) !== targets)?.[0]
  if (other && first[0]) refuse(extractTexts.twoWaysOut(titleOf(first[0].to.block), titleOf(other.to.block)))
  const wired = Map.groupBy(signals, ({ from }) => `${from.block}|${from.pin}`)
  for (const guid of guids) {
    const content = flow.get(guid)
    const description = descriptionOf(flow, catalogue, guid)
    if (!content || description?.kind !== 'flow' || looped.has(guid)) continue
    // A failure ends the call and the flow that called, as it ended the flow before.
    const ways = [...pinsOf(content, catalogue).out].filter(
      ([pin, { type }]) => type === 'flow' && pin !== 'error' && pin !== description.body,
    )
    const dead = ways.find(([pin]) => !wired.has(`${guid}|${pin}`))?.[0]
    if (dead !== undefined || (ways.length === 0 && description.identifier !== 'fail'))
      refuse(extractTexts.canEnd(titleOf(guid), dead === undefined ? '' : ` (${dead})`))
    for (const [pin] of ways)
      if (
        distinct((wired.get(`${guid}|${pin}`) ?? []).map(({ to }) => to)).length > 1 &&
        !allLeave(guid, pin)
      )
        refuse(extractTexts.twoBranches(titleOf(guid)))
  }

  function allLeave(guid: string, pin: string): boolean {
    return (wired.get(`${guid}|${pin}`) ?? []).every(({ to }) => !guids.has(to.block))
  }
}

export function isSignal(flow: Flow, catalogue: Catalogue, { to }: Wire): boolean {
  const content = flow.get(to.block)
  return content !== undefined && pinsOf(content, catalogue).in.get(to.pin)?.type === 'flow'
}

function descriptionOf(flow: Flow, catalogue: Catalogue, guid: string): BlockDescription | undefined {
  return catalogue.get(flow.get(guid)?.type ?? '')
}

function distinct(places: readonly PinPlace[]): PinPlace[] {
  return [...new Map(places.map((place) => [`${place.block}|${place.pin}`, place])).values()]
}

function targetText(wires: readonly Wire[]): string {
  const places = wires.map(({ to }) => wireId({ from: { block: '', pin: '' }, to }))
  return [...new Set(places)].sort().join(' ')
}
