import type { KeyboardEvent } from 'react'
import { ConflictDialog } from '../bar/conflict-dialog.tsx'
import { DeployDialog } from '../bar/deploy-dialog.tsx'
import { DiscardDialog } from '../bar/discard-dialog.tsx'
import { EditorBar } from '../bar/editor-bar.tsx'
import { ExplainDialog } from '../bar/explain-dialog.tsx'
import { VersionsDialog } from '../bar/versions-dialog.tsx'
import { Canvas } from '../canvas/canvas.tsx'
import { OutlineView } from '../outline/outline-view.tsx'
import { AddDialog } from '../palette/add-dialog.tsx'
import { Palette } from '../palette/palette.tsx'
import { PropertyPanel } from '../properties/property-panel.tsx'
import { useEditorState } from '../state/editor-context.ts'
import { TryPanel } from '../try/try-panel.tsx'
import classes from './editor-frame.module.css'
import { focusDrawing } from './focus-drawing.ts'
import { useAddress } from './use-address.ts'
import { useEditorShortcuts } from './use-editor-shortcuts.ts'

/** Escape in the panel gives the keyboard back to the row of the outline, or to the block on the canvas. */
function backToDrawing(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget, key } = event
  if (key !== 'Escape' || !(target instanceof HTMLElement) || !currentTarget.contains(target)) return
  focusDrawing()
  event.stopPropagation()
}

/** The bar above; the palette, the drawing or the outline, and the panel beside each other. */
export function EditorFrame() {
  const view = useEditorState((state) => state.view)
  const panel = useEditorState((state) => state.panel)
  useEditorShortcuts()
  useAddress()
  return (
    <div className={classes.frame}>
      <EditorBar />
      <div className={classes.body}>
        <aside className={classes.palette} aria-label="Blocks to add">
          <Palette />
        </aside>
        <div className={classes.middle}>{view === 'canvas' ? <Canvas /> : <OutlineView />}</div>
        <aside
          className={classes.panel}
          aria-label={panel === 'try' ? 'Try it' : 'Properties'}
          onKeyDown={backToDrawing}
        >
          {panel === 'try' ? <TryPanel /> : <PropertyPanel />}
        </aside>
      </div>
      <AddDialog />
      <DeployDialog />
      <DiscardDialog />
      <VersionsDialog />
      <ExplainDialog />
      <ConflictDialog />
    </div>
  )
}
