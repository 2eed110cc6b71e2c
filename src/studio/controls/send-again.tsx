import { Button, List, Text } from '@mantine/core'
import { useState } from 'react'
import type { Run } from '../../shared/api/blueprints/runs.ts'
import type { Job } from '../../shared/api/operate/queues.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { forgetJobs, requeueJob, sendRunAgain } from '../api/operations.ts'
import { controlsTexts } from '../texts/shell.ts'
import { FormDialog } from './form-dialog.tsx'
import { notifyDone } from './notify.ts'

/** Of a dead letter that is a request. */
export function isRequestLetter({ queue, status }: Pick<Job, 'queue' | 'status'>): boolean {
  return queue === '_requests' && status === 'dead'
}

interface SendAgainProps {
  /** A dead letter, or a run that was answered with a failure. */
  readonly of: Job | Run
  readonly size?: 'xs'
}

/** Says first what would happen a second time. */
export function SendAgain({ of, size }: SendAgainProps) {
  const [opened, setOpened] = useState(false)
  const title = 'data' in of ? of.title : (of.send_again?.title ?? '')
  const source = 'data' in of ? of.data : of.send_again
  const data = isJsonObject(source) ? source : {}
  const cannot = typeof data.cannot === 'string' ? data.cannot : ''
  const happened = Array.isArray(data.happened) ? data.happened.filter(isJsonObject) : []
  if (cannot !== '') return <Text size="sm">{cannot}</Text>
  const submit = async () => {
    if ('data' in of) await requeueJob(of._meta.guid, true)
    else await sendRunAgain(of.guid)
    notifyDone(controlsTexts.requestIsSent)
    await forgetJobs()
  }
  return (
    <>
      <Button {...(size && { size })} onClick={() => setOpened(true)}>
        {controlsTexts.sendAgain}
      </Button>
      <FormDialog
        opened={opened}
        onClose={() => setOpened(false)}
        title={controlsTexts.sendAgainTitle(title)}
        action={controlsTexts.sendAgain}
        submit={submit}
      >
        <Text size="sm">{controlsTexts.sendAgainText}</Text>
        {'data' in of ? null : <Text size="sm">{controlsTexts.clientMayHaveSent}</Text>}
        {happened.length === 0 ? (
          <Text size="sm">{controlsTexts.nothingTwice}</Text>
        ) : (
          <>
            <Text size="sm" fw={600}>
              {controlsTexts.happensTwice}
            </Text>
            <List size="sm" spacing={4}>
              {happened.map((one) => (
                <List.Item key={`${String(one.block)} ${String(one.kind)}`}>{effectWords(one)}</List.Item>
              ))}
            </List>
          </>
        )}
      </FormDialog>
    </>
  )
}

function effectWords({ title, kind, count }: JsonObject): string {
  const word = controlsTexts.effects[String(kind)] ?? String(kind)
  return controlsTexts.effectOf(word, String(title), Number(count))
}
