import { type KeyboardEvent, lazy, Suspense } from 'react'
import { LoadingScreen } from '../../controls/loading-screen.tsx'
import { editorTexts } from '../../texts/editor.ts'
import { EditorBar } from '../bar/editor-bar.tsx'
import { Canvas } from '../canvas/canvas.tsx'
import { ExtractDialog } from '../extract/extract-dialog.tsx'
import { FigureDialog } from '../figures/figure-dialog.tsx'
import { OutlineView } from '../outline/outline-view.tsx'
import { AddDialog } from '../palette/add-dialog.tsx'
import { FindDialog } from '../palette/find-dialog.tsx'
import { Palette } from '../palette/palette.tsx'
import { PropertyPanel } from '../properties/property-panel.tsx'
import { RunBar } from '../runs/run-bar.tsx'
import { usePauseNews } from '../runs/use-pause-news.tsx'
import { useRunNews } from '../runs/use-run-news.ts'
import { useRunShortcuts } from '../runs/use-run-shortcuts.ts'
import { useEditorState } from '../state/editor-context.ts'
import { TryPanel } from '../try/try-panel.tsx'
import { UsesDialog } from '../uses/uses-dialog.tsx'
import classes from './editor-frame.module.css'
import { focusDrawing } from './focus-drawing.ts'
import { useAddress } from './use-address.ts'
import { useEditorShortcuts } from './use-editor-shortcuts.ts'
import { WhenIdle } from './when-idle.tsx'

/** Fetched when it is first opened: most who draw do not look at runs. */
const RunsPanel = lazy(async () => ({ default: (await import('../runs/runs-panel.tsx')).RunsPanel }))

const PreviewPanel = lazy(async () => ({
  default: (await import('../preview/preview-panel.tsx')).PreviewPanel,
}))

const StageDialogs = lazy(async () => ({ default: (await import('../bar/stage-dialogs.tsx')).StageDialogs }))

const panelNames = {
  properties: editorTexts.properties,
  try: editorTexts.tryIt,
  runs: editorTexts.runs,
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
  const view = useEditorState((state) => state.view)
  const panel = useEditorState((state) => state.panel)
  const isLow = useEditorState((state) => state.panel === 'properties' && state.selection.size === 0)
  const isPreviewing = useEditorState((state) => state.isPreviewing)
  const isAsked = useEditorState(({ dialog, conflicts }) => dialog !== undefined || conflicts.length > 0)
  useEditorShortcuts()
  useAddress()
  useRunNews()
  usePauseNews()
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
          {panel === 'try' ? (
            <TryPanel />
          ) : panel === 'runs' ? (
            <Suspense fallback={<LoadingScreen />}>
              <RunsPanel />
            </Suspense>
          ) : (
            <PropertyPanel />
          )}
        </aside>
      </div>
      <AddDialog />
      <FindDialog />
      <ExtractDialog />
      <FigureDialog />
      <UsesDialog />
      <WhenIdle wanted={isAsked}>
        <StageDialogs />
      </WhenIdle>
    </div>
  )
}
