import { createStore, type StoreApi } from 'zustand/vanilla'
import type { TestedBlueprint } from '../../../shared/api/blueprints/applications.ts'
import type { Blueprint, Checked } from '../../../shared/api/blueprints/blueprints.ts'
import type { JsonObject } from '../../../shared/json.ts'
import { place } from '../../api/saved-places.ts'
import type { Catalogue } from '../model/block-description.ts'
import type { Drawing } from '../model/changes/command.ts'
import { emptyHistory, type History } from '../model/changes/history.ts'
import type { Conflict } from '../model/changes/reconcile.ts'
import type { KnownBlocks } from '../model/changes/staged-blocks.ts'
import { emptyFlow, type Flow, type PinPlace, type Wire } from '../model/flow.ts'
import type { FreshBlocks } from '../model/fresh-blocks.ts'
import type { DanglingWire } from '../model/pins/fitting-blocks.ts'
import type { View } from '../model/places/opening-view.ts'
import { type CanvasShows, savedShows } from '../values/canvas-shows.ts'

/** What was typed into Try it for one trigger. */
export interface TriedInput {
  /** Of the parameters in the path. */
  readonly values?: Readonly<Record<string, string>>
  readonly query?: string
  /** Of a request; what is run by hand: its input. */
  readonly body?: string
  readonly as?: 'me' | 'nobody'
  readonly isSigned?: boolean
  /** Whose input is given again. */
  readonly run?: string | null
}

/** Whether what is drawn is stored. `failed`: it will be tried again. */
export type Storing =
  | { readonly state: 'stored' }
  | { readonly state: 'storing' }
  | { readonly state: 'failed'; readonly error: unknown }

export type Dialog =
  | { readonly kind: 'deploy' | 'versions' | 'explain' | 'discard' | 'differs' | 'describe' }
  | { readonly kind: 'find'; readonly text?: string }
  /** What a chart or card of a page shows. */
  | { readonly kind: 'figure'; readonly block: string }
  /** The selected blocks become a custom function. */
  | { readonly kind: 'extract' }
  /** Where a custom function is and what calls it; `isDefinition`: goes to it where there is one. */
  | { readonly kind: 'uses'; readonly name: string; readonly isDefinition?: true }
  /** Choose a block to add: at a place of the canvas, at the end or in the middle of a wire, behind a step or in place of a block. */
  | {
      readonly kind: 'add'
      readonly at?: Point
      readonly wire?: DanglingWire
      readonly behind?: PinPlace
      readonly onWire?: Wire
      readonly replace?: string
    }

/** The run that is drawn, and the step of it that is looked at: its place, from 0, or undefined for all of it. */
export interface ShownRun {
  readonly guid: string
  readonly at: number | undefined
}

export interface Point {
  readonly x: number
  readonly y: number
}

export interface EditorState {
  readonly guid: string
  readonly catalogue: Catalogue
  readonly blueprint: Blueprint | undefined
  /** As the server had it last. For blocks with changes that are not stored yet: as it was when they were made. */
  readonly known: KnownBlocks
  /** As it is drawn: with all staged changes, of every user, and changes that are not stored yet. */
  readonly drawing: Drawing
  readonly history: History
  /** Guids of blocks and `note:` ids of notes. */
  readonly selection: ReadonlySet<string>
  /** Guids of blocks that show all of their pins, also those that nothing uses. */
  readonly unfolded: ReadonlySet<string>
  /** Ids of collapsed frames and lanes that are drawn in full, because something led into them. */
  readonly opened: ReadonlySet<string>
  /** Ids of wires. */
  readonly selectedWires: ReadonlySet<string>
  readonly checked: Checked
  /** The blocks that were checked. */
  readonly checkedFlow: Flow
  readonly fresh: FreshBlocks
  readonly storing: Storing
  readonly conflicts: readonly Conflict[]
  readonly view: 'canvas' | 'outline'
  /** What the canvas showed when it was left for the outline. */
  readonly seen: View | undefined
  readonly panel: 'properties' | 'try' | 'runs' | 'tests'
  /** The trigger that was chosen in Try it last, and what was typed for each: it is still there after a run was looked at. */
  readonly triedKey: string
  readonly tried: ReadonlyMap<string, TriedInput>
  /** The preview of a page is beside the drawing. */
  readonly isPreviewing: boolean
  readonly shows: CanvasShows
  readonly shownRun: ShownRun | undefined
  /** What the tests said when they were run last. */
  readonly tested: TestedBlueprint | undefined
  /** Tests by name of file that were made of runs or opened here, beside those of the application. */
  readonly ownTests: ReadonlyMap<string, JsonObject>
  /** Recorded replies that tries of the drawn blocks use: block → run. */
  readonly pinnedReplies: PinnedReplies
  /** A wire that the mouse is over. */
  readonly pointedWire: string
  /** A request that was sent from here has not been answered yet. */
  readonly isTrying: boolean
  readonly dialog: Dialog | undefined
  /** The pin whose field wants the keyboard, and when: asking twice is asking again. */
  readonly focus: { readonly pin: string; readonly count: number }
}

export type EditorStore = StoreApi<EditorState>

export function editorStore(guid: string, catalogue: Catalogue): EditorStore {
  return createStore<EditorState>(() => ({
    guid,
    catalogue,
    blueprint: undefined,
    known: new Map(),
    drawing: { flow: emptyFlow, notes: [] },
    history: emptyHistory,
    selection: new Set(),
    unfolded: new Set(),
    opened: new Set(),
    selectedWires: new Set(),
    checked: { problems: [], notes: [] },
    checkedFlow: emptyFlow,
    fresh: new Map(),
    storing: { state: 'stored' },
    conflicts: [],
    view: 'canvas',
    seen: undefined,
    panel: 'properties',
    triedKey: '',
    tried: new Map(),
    isPreviewing: false,
    shows: savedShows(),
    shownRun: undefined,
    tested: undefined,
    ownTests: new Map(),
    pinnedReplies: savedPins(guid),
    pointedWire: '',
    isTrying: false,
    dialog: undefined,
    focus: { pin: '', count: 0 },
  }))
}

export type PinnedReplies = ReadonlyMap<string, string>

/** The server takes no more. */
export const MOST_PINS = 50

const keyOf = (blueprint: string) => `quoin.pinned-replies.${blueprint}`

/** Pinned replies as the browser keeps them: block → run, for each blueprint. */
function savedPins(blueprint: string): PinnedReplies {
  try {
    const saved: unknown = JSON.parse(place('localStorage')?.getItem(keyOf(blueprint)) ?? '[]')
    return new Map(Array.isArray(saved) ? saved.filter(isPair).slice(0, MOST_PINS) : [])
  } catch {
    return new Map()
  }
}

export function keepPins(blueprint: string, pins: PinnedReplies): void {
  try {
    if (pins.size === 0) place('localStorage')?.removeItem(keyOf(blueprint))
    else place('localStorage')?.setItem(keyOf(blueprint), JSON.stringify([...pins]))
  } catch {
    // A full place: the pins hold until the page is closed.
  }
}

function isPair(one: unknown): one is [string, string] {
  return Array.isArray(one) && one.length === 2 && one.every((text) => typeof text === 'string')
}
