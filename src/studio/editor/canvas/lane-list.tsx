import { useStore } from '@xyflow/react'
import { useMemo, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { canvasTexts } from '../../texts/canvas.ts'
import { LaneFold } from '../folds/lane-fold.tsx'
import { laneList } from '../model/lane-list.ts'
import { WIDE } from '../model/places/opening-view.ts'
import { useEditorState } from '../state/editor-context.ts'
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
  if (lanes.length < 2) return null
  return (
    <nav className={`${classes.lanes} surface`} aria-label={canvasTexts.lanes}>
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
