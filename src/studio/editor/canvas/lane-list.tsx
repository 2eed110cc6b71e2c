import { useClickOutside } from '@mantine/hooks'
import { useStore } from '@xyflow/react'
import { useEffect, useMemo, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { editorTexts } from '../../texts/editor.ts'
import { laneNote } from '../folds/fold-changes.ts'
import { foldLane, unfoldBox } from '../folds/fold-commands.ts'
import foldClasses from '../folds/lane-fold.module.css'
import { useFolds } from '../folds/use-folds.ts'
import { laneList } from '../model/lane-list.ts'
import { WIDE } from '../model/places/opening-view.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './lane-list.module.css'

/** The triggers of the blueprint, to jump to their lanes. */
export function LaneList({ onJump }: { readonly onJump: (trigger: string) => void }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const selection = useEditorState((state) => state.selection)
  const lanes = useMemo(() => laneList(flow, catalogue), [flow, catalogue])
  const isWide = useStore(({ width }) => width > WIDE)
  const [chosen, setChosen] = useState<boolean>()
  const isOpen = chosen ?? isWide
  const focus = useEditorState((state) => state.focus)
  // Where it lies over the drawing it goes when something else is looked at: pressed, selected or found.
  const nav = useClickOutside<HTMLElement>(() => {
    if (!isWide) setChosen(undefined)
  }, ['pointerdown'])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another block is shown
  useEffect(() => {
    if (!isWide) setChosen(undefined)
  }, [isWide, focus, selection])
  if (lanes.length < 2) return null
  return (
    <nav ref={nav} className={`${classes.lanes} surface`} aria-label={canvasTexts.lanes}>
      <button
        type="button"
        className={classes.toggle}
        aria-expanded={isOpen}
        onClick={() => setChosen(!isOpen)}
      >
        <Icon name="panel" size={14} />
        {canvasTexts.laneCount(lanes.length)}
      </button>
      {isOpen ? (
        <ul className={classes.list}>
          {lanes.map(({ trigger, title }) => (
            <li key={trigger} className={classes.item}>
              <LaneFold trigger={trigger} title={title} />
              <button
                type="button"
                className={classes.lane}
                aria-current={selection.has(trigger) || undefined}
                title={title}
                onClick={() => {
                  onJump(trigger)
                  if (!isWide) setChosen(false)
                }}
              >
                {title}
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </nav>
  )
}

/** In the list of lanes: collapses a lane, and expands it. A lane inside of a collapsed frame has no button. */
function LaneFold({ trigger, title }: { readonly trigger: string; readonly title: string }) {
  const editor = useEditor()
  const { boxes, boxOf } = useFolds()
  const box = boxes.get(boxOf.get(trigger) ?? '')
  if (box && box.note.collapsed?.lane !== true) return <span className={foldClasses.none} />
  const isOwn = box?.note.id === laneNote(editor.store.getState().drawing, trigger)?.id
  return (
    <button
      type="button"
      className={foldClasses.fold}
      aria-label={`${box ? editorTexts.expandText : editorTexts.collapse} ${title}`}
      aria-expanded={!box}
      title={box ? editorTexts.expandText : editorTexts.collapseToOneBox}
      disabled={box !== undefined && !isOwn}
      onClick={() => (box ? unfoldBox(editor, box.note.id) : foldLane(editor, trigger))}
    >
      <Icon name="chevron" size={12} />
    </button>
  )
}
