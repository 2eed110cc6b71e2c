import { Button, Group, SegmentedControl, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ReplayState, Run } from '../../../shared/api/blueprints/runs.ts'
import { replayRun } from '../../api/runs.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { runsTexts } from '../../texts/runs.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import { pinsForTry } from '../state/pinned-replies.ts'
import { showRun } from '../state/shown-run.ts'
import { PinnedNote } from './pin-reply.tsx'
import { runQuery, runsKey } from './run-queries.ts'
import classes from './runs-panel.module.css'

const states: readonly { readonly value: ReplayState; readonly label: string }[] = [
  { value: 'staged', label: runsTexts.canvas },
  { value: 'saved', label: runsTexts.saved },
  { value: 'deployed', label: runsTexts.deployed },
]

/** The same request once more, on the blocks as they are now, and with nothing left behind. */
export function RunAgain({ run }: { readonly run: Run }) {
  const editor = useEditor()
  const client = useQueryClient()
  const blueprint = useEditorState((state) => state.guid)
  const [state, setState] = useState<ReplayState>('staged')
  const again = useMutation({
    mutationFn: async () => {
      // What was drawn a moment ago runs too.
      await editor.sync.settled()
      return replayRun(run.replay_of ?? run.guid, state, state === 'deployed' ? [] : pinsForTry(editor))
    },
    onSuccess: (replay) => {
      client.setQueryData(runQuery(replay.guid).queryKey, replay)
      void client.invalidateQueries({ queryKey: runsKey(blueprint) })
      showRun(editor, replay.guid)
    },
  })
  return (
    <section className={classes.again} aria-label={runsTexts.runAgain}>
      <h2 className={classes.title}>{runsTexts.runAgain}</h2>
      <Text size="xs" c="dimmed">
        {runsTexts.runAgainText}
      </Text>
      <PinnedNote />
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={runsTexts.blocksToRun}
        data={[...states]}
        value={state}
        onChange={(to) => setState(states.find(({ value }) => value === to)?.value ?? 'staged')}
      />
      <Group justify="flex-end">
        <Button size="xs" loading={again.isPending} onClick={() => again.mutate()}>
          {runsTexts.runAgainAndCompare}
        </Button>
      </Group>
      <ErrorNotice error={again.error} title={runsTexts.couldNotRunAgain} />
    </section>
  )
}
