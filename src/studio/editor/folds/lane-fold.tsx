import { Icon } from '../../controls/icon.tsx'
import { editorTexts } from '../../texts/editor.ts'
import { useEditor } from '../state/editor-context.ts'
import { laneNote } from './fold-changes.ts'
import { foldLane, unfoldBox } from './fold-commands.ts'
import classes from './lane-fold.module.css'
import { useFolds } from './use-folds.ts'

/** In the list of lanes: collapses a lane, and expands it. A lane inside of a collapsed frame has no button. */
export function LaneFold({ trigger, title }: { readonly trigger: string; readonly title: string }) {
  const editor = useEditor()
  const { boxes, boxOf } = useFolds()
  const box = boxes.get(boxOf.get(trigger) ?? '')
  if (box && box.note.collapsed?.lane !== true) return <span className={classes.none} />
  const isOwn = box?.note.id === laneNote(editor.store.getState().drawing, trigger)?.id
  return (
    <button
      type="button"
      className={classes.fold}
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
