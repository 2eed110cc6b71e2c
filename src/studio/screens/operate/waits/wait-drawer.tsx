import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { Wait } from '../../../../shared/api/operate/waits.ts'
import { cancelWait, forgetWaits, readWait } from '../../../api/waits.ts'
import { confirm } from '../../../controls/confirm.ts'
import { notifyDone } from '../../../controls/notify.ts'
import { RecordDrawer } from '../../../controls/record-drawer.tsx'
import { waitsTexts } from '../../../texts/waits.ts'
import { ContinueDialog } from './continue-dialog.tsx'
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
        <Button variant="default" onClick={() => askToCancel(wait, close)}>
          {waitsTexts.cancelTheRun}
        </Button>
      </Group>
      <ContinueDialog wait={wait} way={way} onClose={() => ask(undefined)} onEnded={ended} />
    </Stack>
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
