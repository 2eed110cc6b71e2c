import { ActionIcon, Button, Group, Menu, NumberInput } from '@mantine/core'
import type { Queue } from '../../../shared/api/operate/queues.ts'
import { eachJob, limitQueue, pauseQueue, removeJob, requeueJob } from '../../api/operations.ts'
import { confirm } from '../../controls/confirm.ts'
import { useDraft } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { operateTexts } from '../../texts/operate.ts'

/** Pause or go on, how many at once, and what concerns all jobs of the queue. */
export function QueueControls({ queue }: { readonly queue: Queue }) {
  const { name, paused, depth, dead } = queue
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-sm"
        variant="default"
        leftSection={<Icon name={paused ? 'play' : 'pause'} size={14} />}
        onClick={() => void changed(name, pauseQueue(name, !paused))}
      >
        {paused ? operateTexts.resume : operateTexts.pause}
      </Button>
      <Concurrency queue={queue} />
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={operateTexts.moreAbout(queueName(name))}>
            <Icon name="more" size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={dead === 0} onClick={() => askToRequeue(name, dead)}>
            {operateTexts.runAllDeadLetters}
          </Menu.Item>
          <Menu.Item color="red" disabled={depth === 0} onClick={() => askToDrain(name, depth)}>
            {operateTexts.drainCancelAllWaiting}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  )
}

async function changed(name: string, request: Promise<void>): Promise<void> {
  try {
    await request
  } catch (error) {
    notifyFailed(operateTexts.queueCouldNotChanged(queueName(name)), error)
  }
}

/** Sent when one leaves the field or presses Enter, if something was typed. Empty: no limit. */
function Concurrency({ queue }: { readonly queue: Queue }) {
  const { draft, shown, set, saved } = useDraft<{ readonly value: number | string }>({
    value: queue.concurrency ?? '',
  })
  const numberOf = (value: number | string) => (value === '' ? null : Number(value))
  const send = async () => {
    const next = numberOf(draft.value)
    if (next === numberOf(shown.value)) return
    await changed(queue.name, limitQueue(queue.name, next, numberOf(shown.value)))
    saved(draft)
  }
  return (
    <NumberInput
      size="xs"
      w={88}
      min={1}
      max={100_000}
      allowDecimal={false}
      placeholder={operateTexts.noLimit}
      aria-label={operateTexts.concurrencyOf(queueName(queue.name))}
      title={operateTexts.concurrencyHelp}
      value={draft.value}
      onChange={(value) => set('value', value)}
      onBlur={() => void send()}
      onKeyDown={(event) => {
        if (event.key === 'Enter') void send()
      }}
    />
  )
}

function askToRequeue(queue: string, dead: number): void {
  const isOfRequests = queue === '_requests'
  // Those that cannot be sent again stay.
  const again = isOfRequests
    ? (guid: string) => requeueJob(guid, true).catch(() => undefined)
    : (guid: string) => requeueJob(guid)
  confirm({
    title: operateTexts.runDeadLettersAgain(queueName(queue)),
    text: isOfRequests
      ? operateTexts.sendRequestsAgainText(dead.toLocaleString())
      : operateTexts.runDeadLettersText(dead.toLocaleString()),
    action: operateTexts.runAgain,
    run: async () => {
      notifyDone(operateTexts.jobsRunAgain(await eachJob({ queue, status: 'dead' }, again)))
    },
  })
}

function askToDrain(queue: string, depth: number): void {
  confirm({
    title: operateTexts.cancelAllWaitingJobs(queueName(queue)),
    text: operateTexts.cancelAllWaitingText(depth.toLocaleString()),
    action: operateTexts.cancelJobs,
    type: queueName(queue),
    run: async () => {
      notifyDone(operateTexts.jobsCancelled(await eachJob({ queue, status: 'waiting' }, removeJob)))
    },
  })
}

const ownQueues: ReadonlyMap<string, string> = new Map(Object.entries(operateTexts.ownQueues))

/** What people call a queue: those of Quoin itself have names such as `_schedules`, the others those that a builder gave. */
export function queueName(name: string): string {
  return ownQueues.get(name) ?? name
}
