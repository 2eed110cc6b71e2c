import {
  Badge,
  Button,
  Code,
  CopyButton,
  Group,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { type ApiDocument, exampleOf, type Operation } from '../../api/open-api.ts'
import { CopyAction } from '../../controls/actions.tsx'
import { duration } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { JsonField } from '../../controls/json/json-field.tsx'
import { JsonView } from '../../controls/json/json-view.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { ScrollText } from '../../controls/tags.tsx'
import { referenceTexts } from '../../texts/blueprints.ts'
import { curlOf, sendTry, type TryReply, type TryRequest } from './try-request.ts'

interface TryOperationProps {
  readonly operation: Operation
  readonly document: ApiDocument
}

/** A form that asks the endpoint for real, and the reply to it. */
export function TryOperation({ operation, document }: TryOperationProps) {
  const { method, path, parameters = [], requestBody } = operation
  const json = requestBody?.content['application/json']
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() =>
    json ? JSON.stringify(exampleOf(json.schema ?? {}, document), null, 2) : '',
  )
  const [asMyself, setAsMyself] = useState(true)
  const isSendable = !requestBody || json !== undefined
  const request: TryRequest = { method, path, values, body: json ? body : undefined, asMyself }
  const send = useMutation({ mutationFn: () => sendTry(request) })
  return (
    <section className="surface" style={{ padding: 16 }}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          send.mutate()
        }}
      >
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={3} size="h5">
              {referenceTexts.tryIt}
            </Title>
            <Switch
              label={referenceTexts.withMyToken}
              checked={asMyself}
              onChange={(event) => setAsMyself(event.currentTarget.checked)}
            />
          </Group>
          {parameters.length > 0 ? (
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
              {parameters.map((parameter) => {
                const key = `${parameter.in} ${parameter.name}`
                return (
                  <TextInput
                    key={key}
                    label={
                      <>
                        {parameter.name}{' '}
                        <Text span size="xs" c="dimmed">
                          {parameter.in}
                        </Text>
                      </>
                    }
                    description={parameter.description?.replaceAll('`', '')}
                    required={parameter.in === 'path'}
                    value={values[key] ?? ''}
                    onChange={(event) => setValues({ ...values, [key]: event.currentTarget.value })}
                  />
                )
              })}
            </SimpleGrid>
          ) : null}
          {json ? (
            <JsonField label={referenceTexts.body} value={body} onChange={setBody} minRows={3} />
          ) : null}
          {isSendable ? null : (
            <Text size="sm" c="dimmed">
              {referenceTexts.needsFile}
            </Text>
          )}
          <Group gap="sm">
            <Button
              type="submit"
              leftSection={<Icon name="play" size={14} />}
              loading={send.isPending}
              disabled={!isSendable}
              color={method === 'DELETE' ? 'red' : 'petrol'}
            >
              {referenceTexts.send(method)}
            </Button>
            <CopyButton value={curlOf(request, location.origin)}>
              {(state) => (
                <Group gap={2}>
                  <Code>curl</Code>
                  <CopyAction {...state} />
                </Group>
              )}
            </CopyButton>
          </Group>
          <div aria-live="polite">
            {send.error ? <ErrorNotice error={send.error} title={referenceTexts.noReply} /> : null}
            {send.data ? <TryReplyView reply={send.data} /> : null}
          </div>
        </Stack>
      </form>
    </section>
  )
}

export function TryReplyView({
  reply: { status, milliseconds, headers, body },
}: {
  readonly reply: TryReply
}) {
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Badge size="lg" color={status < 300 ? 'green' : status < 400 ? 'gray' : 'red'}>
          {status}
        </Badge>
        <Text size="sm" c="dimmed" className="numbers">
          {referenceTexts.inThisBrowser(duration(milliseconds))}
        </Text>
      </Group>
      {typeof body === 'string' ? (
        body === '' ? (
          <Text size="sm" c="dimmed">
            {referenceTexts.noBody}
          </Text>
        ) : (
          <ScrollText label={referenceTexts.reply}>{body}</ScrollText>
        )
      ) : (
        <JsonView value={body} label={referenceTexts.reply} />
      )}
      <details>
        <summary>
          <Text span size="sm">
            {referenceTexts.headers(headers.length)}
          </Text>
        </summary>
        <ScrollText label={referenceTexts.headersOfTheReply}>
          {headers.map(([name, value]) => `${name}: ${value}`).join('\n')}
        </ScrollText>
      </details>
    </Stack>
  )
}
