import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { cancelWait, continueWait, forgetWaits, readWait } from '../../../api/waits.ts'
import { confirm } from '../../../controls/confirm.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { notifyDone } from '../../../controls/notify.ts'
import { RecordDrawer } from '../../../controls/record-drawer.tsx'
import { waitsTexts } from '../../../texts/waits.ts'
import { ContinueDialog } from './continue-dialog.tsx'
import { MoveDialog } from './move-dialog.tsx'
import { ApprovalDetails, WaitFacts } from './wait-facts.tsx'
import { type WaitWay, waysOf } from './wait-ways.ts'

export function WaitDrawer() {
  return (
    <RecordDrawer<Wait> title={waitsTexts.waitingRun} queryKey={['waits', 'one']} load={readWait}>
      {(wait, close) => <Opened wait={wait} close={close} />}
    </RecordDrawer>
  )
}

function Opened({ wait, close }: { readonly wait: Wait; readonly close: () => void }) {
  const [way, ask] = useState<WaitWay>()
  const [moving, setMoving] = useState(false)
  const ended = async () => {
    close()
    notifyDone(waitsTexts.theRunContinues)
    await forgetWaits()
  }
  return (
    <Stack gap="md">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {wait.title}
      </Text>
      <ApprovalDetails details={wait.details} />
      <WaitFacts wait={wait} />
      <Failed wait={wait} onEnded={ended} />
      <Group gap="xs">
        {wait.state === 'waiting'
          ? waysOf[wait.kind]
              .filter(({ way }) => wait.ways.includes(way))
              .map((one, place) => (
                <Button
                  key={one.way}
                  variant={place === 0 ? 'filled' : 'default'}
                  {...(one.color && { color: one.color, variant: 'light' })}
                  onClick={() => ask(one)}
                >
                  {one.label}
                </Button>
              ))
          : null}
        {wait.state === 'waiting' && wait.version === 'same' ? (
          <Button variant="default" onClick={() => setMoving(true)}>
            {waitsTexts.moveRuns}
          </Button>
        ) : null}
        <Button variant="default" onClick={() => askToCancel(wait, close)}>
          {waitsTexts.cancelTheRun}
        </Button>
      </Group>
      <MoveDialog
        blueprint={wait.blueprint}
        wait={wait._meta.guid}
        opened={moving}
        onClose={() => setMoving(false)}
        onMoved={close}
      />
      <ContinueDialog wait={wait} way={way} onClose={() => ask(undefined)} onEnded={ended} />
    </Stack>
  )
}

/** What a person has decided is kept: the run continues with it. */
function Failed({ wait, onEnded }: { readonly wait: Wait; readonly onEnded: () => Promise<void> }) {
  const again = useMutation({
    mutationFn: (version: Wait['version']) => continueWait(wait._meta.guid, { version }),
    onSuccess: onEnded,
  })
  if (wait.error === '') return null
  return (
    <Alert color="red" variant="light" title={waitsTexts.hasFailed}>
      <Stack gap="xs">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {wait.error}
        </Text>
        <Text size="sm">{waitsTexts.decisionIsKept}</Text>
        <ErrorNotice error={again.error} />
        <Group gap="xs">
          <Button loading={again.isPending} onClick={() => again.mutate('current')}>
            {waitsTexts.continueOnDeployed}
          </Button>
          <Button variant="default" loading={again.isPending} onClick={() => again.mutate('same')}>
            {waitsTexts.continueAgain}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function askToCancel({ _meta, title }: Wait, close: () => void): void {
  confirm({
    title: waitsTexts.cancelThisRun,
    text: waitsTexts.cancelThisRunText(title),
    action: waitsTexts.cancelTheRun,
    run: async () => {
      await cancelWait(_meta.guid)
      close()
      await forgetWaits()
    },
  })
}
