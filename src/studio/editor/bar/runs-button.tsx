import { ActionIcon, Tooltip } from '@mantine/core'
import { Icon } from '../../controls/icon.tsx'
import { barTexts } from '../../texts/bar.ts'
import { usePausedRuns, useTracing } from '../runs/run-queries.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import classes from './editor-bar.module.css'

/** Opens the panel of past runs. A dot on it says that runs are traced, or that one is paused. */
export function RunsButton() {
  const editor = useEditor()
  const panel = useEditorState((state) => state.panel)
  const isTraced = useTracing().data?.on === true
  const paused = usePausedRuns().data?.length ?? 0
  const isOpen = panel === 'runs'
  const state = paused > 0 ? barTexts.oneIsPaused : isTraced ? barTexts.beingTraced : ''
  return (
    <Tooltip label={barTexts.runsNow(state)}>
      <ActionIcon
        variant={isOpen ? 'light' : 'default'}
        size={30}
        aria-label={barTexts.runsNow(state)}
        aria-pressed={isOpen}
        className={classes.runs}
        data-state={paused > 0 ? 'paused' : isTraced ? 'traced' : undefined}
        onClick={() => editor.set({ panel: isOpen ? 'properties' : 'runs' })}
      >
        <Icon name="operate" size={16} />
      </ActionIcon>
    </Tooltip>
  )
}
