import { Anchor, Button, Group, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Link } from 'wouter'
import { runByHand } from '../../api/runs.ts'
import { confirm } from '../../controls/confirm.ts'
import { ErrorNotice } from '../../controls/error-notice.tsx'
import { operateTexts } from '../../texts/operate.ts'

/** Runs a schedule once, for real. Its id is the guid of the blueprint, a space and the guid of the block. */
export function RunNow({ schedule }: { readonly schedule: string }) {
  const [blueprint = '', trigger = ''] = schedule.split(' ')
  const running = useMutation({
    mutationFn: () => runByHand(blueprint, { trigger, effects: 'real' }),
  })
  const run = running.data
  return (
    <>
      <Group mb="md" gap="sm">
        <Button
          size="xs"
          loading={running.isPending}
          onClick={() =>
            confirm({
              title: operateTexts.runThisScheduleNow,
              text: operateTexts.runScheduleNowText,
              action: operateTexts.runNow,
              run: async () => {
                await running.mutateAsync()
              },
            })
          }
        >
          {operateTexts.runNow}
        </Button>
        {run ? (
          <Text size="sm" role="status">
            {run.status === 'failed' ? operateTexts.itFailed : operateTexts.itRan}
            <Anchor component={Link} href={`/blueprints/${blueprint}?panel=runs&run=${run.guid}`} size="sm">
              {operateTexts.showTheRun}
            </Anchor>
          </Text>
        ) : null}
      </Group>
      <ErrorNotice error={running.error} title={operateTexts.couldNotRunSchedule} />
    </>
  )
}
