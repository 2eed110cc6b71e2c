import { Button, List, Text } from '@mantine/core'
import { useState } from 'react'
import type { Job } from '../../shared/api/operate/queues.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'
import { forgetJobs, requeueJob } from '../api/operations.ts'
import { controlsTexts } from '../texts/shell.ts'
import { FormDialog } from './form-dialog.tsx'
import { notifyDone } from './notify.ts'

/** Of a dead letter that is a request. */
export function isRequestLetter({ queue, status }: Pick<Job, 'queue' | 'status'>): boolean {
  return queue === '_requests' && status === 'dead'
}

interface SendAgainProps {
  readonly job: Job
  readonly size?: 'xs'
}

/** Says first what would happen a second time. */
export function SendAgain({ job, size }: SendAgainProps) {
  const [opened, setOpened] = useState(false)
  const data = isJsonObject(job.data) ? job.data : {}
  const cannot = typeof data.cannot === 'string' ? data.cannot : ''
  const happened = Array.isArray(data.happened) ? data.happened.filter(isJsonObject) : []
  if (cannot !== '') return <Text size="sm">{cannot}</Text>
  const submit = async () => {
    await requeueJob(job._meta.guid, true)
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
        title={controlsTexts.sendAgainTitle(job.title)}
        action={controlsTexts.sendAgain}
        submit={submit}
      >
        <Text size="sm">{controlsTexts.sendAgainText}</Text>
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
