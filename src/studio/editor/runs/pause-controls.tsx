import { Button, Tooltip } from '@mantine/core'
import type { PausedRun } from '../../../shared/api/runs.ts'
import type { Steering } from '../../api/runs.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { stepName } from '../model/run-words.ts'
import { useEditorState } from '../state/editor-context.ts'
import { Lease } from './lease.tsx'
import classes from './run-bar.module.css'
import { useSteering } from './use-steering.ts'

const deeds: readonly { readonly how: Steering; readonly label: string; readonly help: string }[] = [
  { how: 'step', label: 'Step', help: 'Run this block and pause before the next one (F10)' },
  { how: 'resume', label: 'Resume', help: 'Resume to the next breakpoint or to the end (F8)' },
  { how: 'stop', label: 'Stop', help: 'Stop the run and undo its writes (Shift F8)' },
]

const keysOf = { group: 'Runs', whileTyping: true } as const

/** Before which block a run stands still, for how long, and what can be done with it. */
export function PauseControls({ paused }: { readonly paused: PausedRun }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const steering = useSteering()
  const steer = (how: Steering) => () => {
    if (!steering.isPending) steering.mutate({ run: paused.run, how })
  }
  useShortcut({ ...keysOf, keys: 'f10', label: 'Paused run: one step' }, steer('step'))
  useShortcut({ ...keysOf, keys: 'f8', label: 'Paused run: resume' }, steer('resume'))
  useShortcut({ ...keysOf, keys: 'shift+f8', label: 'Paused run: stop' }, steer('stop'))
  const name = stepName({ block: paused.block, type: paused.steps.at(-1)?.type ?? '' }, flow, catalogue)
  return (
    <>
      <span className={classes.detail} role="status">
        before <b>{name}</b>
      </span>
      <span className={classes.lease}>
        <Lease since={paused.since} until={paused.until} />
      </span>
      <span className={classes.steps}>
        {deeds.map(({ how, label, help }) => (
          <Tooltip key={how} label={help}>
            <Button
              size="compact-xs"
              variant={how === 'step' ? 'filled' : 'default'}
              aria-disabled={steering.isPending}
              onClick={steer(how)}
            >
              {label}
            </Button>
          </Tooltip>
        ))}
      </span>
    </>
  )
}
