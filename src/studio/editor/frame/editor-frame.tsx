import { type KeyboardEvent, lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { useSearch } from 'wouter'
import { KeysTaken } from '../../controls/form-dialog.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { LoadingScreen } from '../../controls/states.tsx'
import { useShortcut } from '../../shell/shortcuts.ts'
import { countsTexts, editorTexts } from '../../texts/editor.ts'
import { runsTexts } from '../../texts/runs.ts'
import { EditorBar } from '../bar/editor-bar.tsx'
import { useStageActions } from '../bar/use-stage-actions.ts'
import { Canvas } from '../canvas/canvas.tsx'
import { ExtractDialog } from '../extract/extract-dialog.tsx'
import { FigureDialog } from '../figures/figure-dialog.tsx'
import { OutlineView } from '../outline/outline-view.tsx'
import { AddDialog } from '../palette/add-dialog.tsx'
import { FindDialog } from '../palette/find-dialog.tsx'
import { Palette } from '../palette/palette.tsx'
import { PropertyPanel } from '../properties/property-panel.tsx'
import { RunBar } from '../runs/run-bar.tsx'
import { useBreakpoints } from '../runs/use-breakpoints.ts'
import { usePauseEvents } from '../runs/use-pause-events.tsx'
import { useRunEvents } from '../runs/use-run-events.ts'
import { copySelected, duplicateSelected, pasteBlocks, removeSelected } from '../state/editor-commands.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { leaveRun } from '../state/shown-run.ts'
import { UsesDialog } from '../uses/uses-dialog.tsx'
import classes from './editor-frame.module.css'
import { focusDrawing } from './focus-drawing.ts'

/** At the latest after so many milliseconds, also in a browser that cannot say when it is idle. */
const LATEST = 1_000

interface WhenIdleProps {
  readonly open: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * Content that is not visible yet: it is fetched and mounted when the browser has nothing else to do, or when it is `requested`. Mounted
 * before it opens, a dialog knows where the focus was.
 */
function WhenIdle({ open: requested, onClose, children }: WhenIdleProps) {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    if (!('requestIdleCallback' in globalThis)) {
      const timer = setTimeout(() => setIdle(true), LATEST)
      return () => clearTimeout(timer)
    }
    const asked = requestIdleCallback(() => setIdle(true), { timeout: LATEST })
    return () => cancelIdleCallback(asked)
  }, [])
  useEffect(() => {
    if (requested) setIdle(true)
  }, [requested])
  const fallback = requested ? <KeysTaken onClose={onClose} /> : null
  return isIdle ? <Suspense fallback={fallback}>{children}</Suspense> : null
}

const group = editorTexts.blueprint

/** Keys that work on the canvas and in the outline. */
function useEditorShortcuts(): void {
  const editor = useEditor()
  const { save } = useStageActions()
  useShortcut({ keys: 'mod+z', label: editorTexts.undo, group }, editor.undo)
  useShortcut({ keys: 'mod+shift+z', label: editorTexts.redo, group }, editor.redo)
  useShortcut({ keys: 'mod+y', label: editorTexts.redo, group }, editor.redo)
  useShortcut({ keys: 'mod+c', label: editorTexts.copyBlocks, group }, async () => {
    const blocks = await copySelected(editor)
    if (blocks > 0) notifyDone(editorTexts.copied(countsTexts.blocks(blocks)))
  })
  useShortcut({ keys: 'mod+x', label: editorTexts.cutBlocks, group }, async () => {
    if ((await copySelected(editor)) > 0) removeSelected(editor)
  })
  useShortcut({ keys: 'mod+v', label: editorTexts.pasteBlocks, group }, async () => {
    if ((await pasteBlocks(editor)) === 0) notifyDone(editorTexts.clipboardEmpty)
  })
  useShortcut(
    { keys: 'mod+d', label: editorTexts.duplicateBlocks, group },
    () => void duplicateSelected(editor),
  )
  useShortcut({ keys: 'delete', label: editorTexts.removeTheSelection, group }, () => removeSelected(editor))
  useShortcut({ keys: 'backspace', label: editorTexts.removeTheSelection, group }, () =>
    removeSelected(editor),
  )
  useShortcut({ keys: 'escape', label: editorTexts.keyEscape, group }, () => {
    const { selection, selectedWires } = editor.store.getState()
    if (selection.size > 0 || selectedWires.size > 0) editor.select([])
    else leaveRun(editor)
  })
  useShortcut({ keys: 'shift+a', label: editorTexts.addAnyBlock, group }, () =>
    editor.set({ dialog: { kind: 'add' } }),
  )
  useShortcut({ keys: 'mod+f', label: editorTexts.findInThisBlueprint, group, whileTyping: true }, () =>
    editor.set({ dialog: { kind: 'find' } }),
  )
  useShortcut({ keys: 'o', label: editorTexts.canvasOrOutline, group }, () => {
    const { view } = editor.store.getState()
    editor.set({ view: view === 'canvas' ? 'outline' : 'canvas' })
  })
  useShortcut({ keys: 't', label: editorTexts.tryIt, group }, () => {
    const { panel } = editor.store.getState()
    editor.set({ panel: panel === 'try' ? 'properties' : 'try' })
  })
  useShortcut({ keys: 'v', label: editorTexts.versions, group }, () =>
    editor.set({ dialog: { kind: 'versions' } }),
  )
  useShortcut({ keys: 'mod+s', label: editorTexts.save, group, whileTyping: true }, () => {
    // What is still under the cursor counts too.
    focusDrawing()
    save()
  })
  useShortcut({ keys: 'mod+enter', label: editorTexts.deploy, group, whileTyping: true }, () => {
    focusDrawing()
    editor.set({ dialog: { kind: 'deploy' } })
  })
}

const panels = ['try', 'runs', 'tests', 'properties'] as const

/**
 * The address says what is shown: `?view=outline&block=<guid>&panel=try`, and `?panel=runs&run=<guid>&step=3`. It can be
 * linked to; going through blocks and steps leaves no trail in the history of the browser.
 */
function useAddress(): void {
  const editor = useEditor()
  useEffect(() => {
    const input = new URLSearchParams(location.search)
    const block = input.get('block')
    const run = input.get('run') ?? ''
    const step = Math.trunc(Number(input.get('step')))
    editor.set({
      view: input.get('view') === 'outline' ? 'outline' : 'canvas',
      panel: panels.find((one) => one === input.get('panel')) ?? (run === '' ? 'properties' : 'runs'),
      shownRun: run === '' ? undefined : { guid: run, at: step > 0 ? step - 1 : undefined },
    })
    if (block !== null && editor.store.getState().drawing.flow.has(block)) {
      if (input.has('panel') || run !== '') editor.select([block])
      else editor.focusPin(block, '')
    }
    return editor.store.subscribe(({ view, panel, selection, shownRun, drawing }, before) => {
      const isSame = view === before.view && panel === before.panel && shownRun === before.shownRun
      if (isSame && selection === before.selection) return
      const words = new URLSearchParams(location.search)
      const [only] = selection
      put(words, 'view', view === 'outline' ? view : '')
      put(words, 'panel', panel === 'properties' ? '' : panel)
      put(words, 'run', shownRun?.guid ?? '')
      put(words, 'step', shownRun?.at === undefined ? '' : String(shownRun.at + 1))
      put(words, 'block', selection.size === 1 && only !== undefined && drawing.flow.has(only) ? only : '')
      const search = words.size > 0 ? `?${words}` : ''
      if (search !== location.search) history.replaceState(history.state, '', `${location.pathname}${search}`)
    })
  }, [editor])
  const search = useSearch()
  // A link to another block of this blueprint. What is selected here is written into the address before this runs.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address may have changed since it was rendered
  useEffect(() => {
    const block = new URLSearchParams(location.search).get('block')
    const { drawing, selection } = editor.store.getState()
    if (block !== null && !selection.has(block) && drawing.flow.has(block)) editor.focusPin(block, '')
  }, [editor, search])
}

function put(words: URLSearchParams, name: string, value: string): void {
  if (value === '') words.delete(name)
  else words.set(name, value)
}

/** Who begins to draw neither sends a request nor looks at runs. */
const laterParts = {
  tryPanel: () => import('../try/try-panel.tsx'),
  runsPanel: () => import('../runs/runs-panel.tsx'),
  testsPanel: () => import('../runs/tests-panel.tsx'),
  previewPanel: () => import('../preview/preview-panel.tsx'),
}

const TryPanel = lazy(async () => ({ default: (await laterParts.tryPanel()).TryPanel }))
const RunsPanel = lazy(async () => ({ default: (await laterParts.runsPanel()).RunsPanel }))
const TestsPanel = lazy(async () => ({ default: (await laterParts.testsPanel()).TestsPanel }))
const PreviewPanel = lazy(async () => ({ default: (await laterParts.previewPanel()).PreviewPanel }))

const StageDialogs = lazy(async () => {
  // At the same time, and not when they are opened: what a browser could not fetch once, as while the server restarts, it does not try again in this page.
  for (const fetchPart of Object.values(laterParts)) fetchPart().catch(() => undefined)
  return { default: (await import('../bar/stage-dialogs.tsx')).StageDialogs }
})

/** Those that are in it. */
const stageDialogs = ['deploy', 'versions', 'explain', 'discard', 'differs', 'describe'] as const

const panelNames = {
  properties: editorTexts.properties,
  try: editorTexts.tryIt,
  runs: editorTexts.runs,
  tests: runsTexts.tests,
} as const

/** Escape in the panel gives the keyboard back to the row of the outline, or to the block on the canvas. */
function backToDrawing(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event
  // A list of completions closes first.
  if (
    event.isDefaultPrevented() ||
    key !== 'Escape' ||
    !(target instanceof HTMLElement) ||
    !currentTarget.contains(target)
  )
    return
  focusDrawing()
  event.stopPropagation()
}

/** In a row of choices the arrows choose; elsewhere they go through the steps of a run. */
function keepArrows(event: KeyboardEvent<HTMLElement>): void {
  const isChoice = event.target instanceof HTMLInputElement && event.target.type === 'radio'
  if (isChoice && event.key.startsWith('Arrow')) event.stopPropagation()
}

/** The bar above; the palette, the drawing or the outline, and the panel beside each other. */
export function EditorFrame() {
  const editor = useEditor()
  const view = useEditorState((state) => state.view)
  const panel = useEditorState((state) => state.panel)
  const isLow = useEditorState((state) => state.panel === 'properties' && state.selection.size === 0)
  const isPreviewing = useEditorState((state) => state.isPreviewing)
  const isAsked = useEditorState(
    ({ dialog, conflicts }) => stageDialogs.some((kind) => kind === dialog?.kind) || conflicts.length > 0,
  )
  useEditorShortcuts()
  useAddress()
  useRunEvents()
  usePauseEvents()
  useRunShortcuts()
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only keeps keys that belong to what is inside
    <div className={classes.frame} onKeyDown={keepArrows}>
      <EditorBar />
      <div className={classes.body} data-low={isLow || undefined} data-preview={isPreviewing || undefined}>
        <aside className={classes.palette} aria-label={editorTexts.blocksToAdd}>
          <Palette />
        </aside>
        <div className={classes.middle}>
          {view === 'canvas' ? <Canvas /> : <OutlineView />}
          <RunBar />
        </div>
        {isPreviewing ? (
          <aside className={classes.preview} aria-label={editorTexts.preview} onKeyDown={backToDrawing}>
            <Suspense fallback={<LoadingScreen />}>
              <PreviewPanel />
            </Suspense>
          </aside>
        ) : null}
        <aside className={classes.panel} aria-label={panelNames[panel]} onKeyDown={backToDrawing}>
          {panel === 'properties' ? (
            <PropertyPanel />
          ) : (
            <Suspense fallback={<LoadingScreen />}>
              {panel === 'try' ? <TryPanel /> : panel === 'runs' ? <RunsPanel /> : <TestsPanel />}
            </Suspense>
          )}
        </aside>
      </div>
      <AddDialog />
      <FindDialog />
      <ExtractDialog />
      <FigureDialog />
      <UsesDialog />
      <WhenIdle open={isAsked} onClose={() => editor.set({ dialog: undefined })}>
        <StageDialogs />
      </WhenIdle>
    </div>
  )
}

/** Keys for runs that work whether one is shown or not. */
function useRunShortcuts(): void {
  const editor = useEditor()
  const breakpoints = useBreakpoints()
  const only = useEditorState(({ selection }) => (selection.size === 1 ? [...selection][0] : undefined))
  useShortcut({ keys: 'r', label: runsTexts.runs, group: runsTexts.runs }, () => {
    const { panel } = editor.store.getState()
    editor.set({ panel: panel === 'runs' ? 'properties' : 'runs' })
  })
  useShortcut({ keys: 'b', label: runsTexts.breakpointSelectedStep, group: runsTexts.runs }, () => {
    if (only !== undefined) breakpoints.toggle(only)
  })
}
