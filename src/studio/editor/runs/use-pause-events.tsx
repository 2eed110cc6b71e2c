import { Button, Group, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useRef } from 'react'
import type { PausedRun } from '../../../shared/api/blueprints/runs.ts'
import { runsTexts } from '../../texts/runs.ts'
import { stepName } from '../model/runs/run-labels.ts'
import type { Editor } from '../state/editor.ts'
import { useEditor } from '../state/editor-context.ts'
import { showRun } from '../state/shown-run.ts'
import { usePausedRuns } from './run-queries.ts'

/**
 * Tells of runs that come to stand still. One that answers what was just sent from here is shown at once; of another user
 * else's there is a word with a button, for as long as it stands.
 */
export function usePauseEvents(): void {
  const editor = useEditor()
  const { data } = usePausedRuns()
  const known = useRef(new Set<string>())
  useEffect(() => {
    const paused = data ?? []
    const now = new Set(paused.map(({ run }) => run))
    for (const run of known.current) if (!now.has(run)) notifications.hide(noteOf(run))
    for (const one of paused) {
      const { shownRun, isTrying } = editor.store.getState()
      if (known.current.has(one.run) || shownRun?.guid === one.run) continue
      if (isTrying) showRun(editor, one.run)
      else announce(editor, one)
    }
    known.current = now
  }, [data, editor])
  useEffect(
    () => () => {
      for (const run of known.current) notifications.hide(noteOf(run))
    },
    [],
  )
}

function announce(editor: Editor, paused: PausedRun): void {
  const { drawing, catalogue } = editor.store.getState()
  const step = { block: paused.block, type: paused.steps.at(-1)?.type ?? '' }
  const id = noteOf(paused.run)
  const look = () => {
    notifications.hide(id)
    showRun(editor, paused.run)
  }
  notifications.show({
    id,
    title: runsTexts.aRunIsPaused,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{runsTexts.pausedBefore(stepName(step, drawing.flow, catalogue))}</Text>
        <Button size="compact-sm" variant="default" onClick={look}>
          {runsTexts.look}
        </Button>
      </Group>
    ),
    color: 'sand',
    autoClose: false,
    role: 'status',
  })
}

function noteOf(run: string): string {
  return `paused ${run}`
}
