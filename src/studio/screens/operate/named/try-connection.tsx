import { Button, Group, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { TriedConnection } from '../../../../shared/api/operate/connections.ts'
import { tryConnection } from '../../../api/connections.ts'
import { namedTexts } from '../../../texts/named.ts'

interface TryConnectionProps {
  readonly guid: string
  /** What is typed differs from what is stored, which is what is tried. */
  readonly isChanged: boolean
}

/** Sends one request over the stored connection, and says what came of it. */
export function TryConnection({ guid, isChanged }: TryConnectionProps) {
  const [path, setPath] = useState('')
  const send = useMutation({ mutationFn: () => tryConnection(guid, path) })
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={namedTexts.tryAPath}
          description={namedTexts.tryAPathHelp}
          placeholder={namedTexts.ordersLimit1}
          style={{ flex: 1 }}
          value={path}
          onChange={(event) => setPath(event.currentTarget.value)}
        />
        <Button variant="default" loading={send.isPending} disabled={isChanged} onClick={() => send.mutate()}>
          {namedTexts.try}
        </Button>
      </Group>
      <Text size="sm" role="status" c={send.data?.ok ? 'green' : send.data || send.error ? 'red' : 'dimmed'}>
        {isChanged ? namedTexts.saveFirst : send.error ? send.error.message : told(send.data)}
      </Text>
    </>
  )
}

function told(tried: TriedConnection | undefined): string {
  if (!tried) return ''
  return tried.problem ?? namedTexts.tried(tried.status, Math.round(tried.milliseconds ?? 0))
}
