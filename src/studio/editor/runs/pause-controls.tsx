import { Button, Tooltip } from '@mantine/core'
import type { PausedRun } from '../../../shared/api/blueprints/runs.ts'
import type { Steering } from '../../api/runs.ts'
import { useShortcut } from '../../shell/shortcuts.ts'
import { runsTexts } from '../../texts/runs.ts'
import { stepName } from '../model/runs/run-words.ts'
import { useEditorState } from '../state/editor-context.ts'
import { Lease } from './lease.tsx'
import classes from './run-bar.module.css'
import { useSteering } from './use-steering.ts'

const deeds: readonly { readonly how: Steering; readonly label: string; readonly help: string }[] = [
  { how: 'step', label: runsTexts.step, help: runsTexts.stepHelp },
  { how: 'resume', label: runsTexts.resume, help: runsTexts.resumeHelp },
  { how: 'stop', label: runsTexts.stop, help: runsTexts.stopHelp },
]

const keysOf = { group: runsTexts.runs, whileTyping: true } as const

/** Before which block a run stands still, for how long, and what can be done with it. */
export function PauseControls({ paused }: { readonly paused: PausedRun }) {
  const flow = useEditorState(({ drawing }) => drawing.flow)
  const catalogue = useEditorState((state) => state.catalogue)
  const steering = useSteering()
  const steer = (how: Steering) => () => {
    if (!steering.isPending) steering.mutate({ run: paused.run, how })
  }
  useShortcut({ ...keysOf, keys: 'f10', label: runsTexts.pausedRunOneStep }, steer('step'))
  useShortcut({ ...keysOf, keys: 'f8', label: runsTexts.pausedRunResume }, steer('resume'))
  useShortcut({ ...keysOf, keys: 'shift+f8', label: runsTexts.pausedRunStop }, steer('stop'))
  const name = stepName({ block: paused.block, type: paused.steps.at(-1)?.type ?? '' }, flow, catalogue)
  return (
    <>
      <span className={classes.detail} role="status">
        {runsTexts.before} <b>{name}</b>
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
