import { Button, FileButton, Group, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApiDocumentRecord } from '../../../../shared/api/operate/operations.ts'
import { apiDocument, fetchApiDocument, sendApiDocument } from '../../../api/api-documents.ts'
import { messageOf } from '../../../api/api-error.ts'
import { namedTexts } from '../../../texts/settings.ts'

/** The OpenAPI document of a connection: fetched or sent, and what it offers. */
export function ApiDocument({ guid }: { readonly guid: string }) {
  const [url, setUrl] = useState('')
  const { data } = useQuery({
    queryKey: ['api-document', guid],
    queryFn: ({ signal }) => apiDocument(guid, signal),
  })
  const change = useMutation({
    mutationFn: (from: string | File) =>
      typeof from === 'string' ? fetchApiDocument(guid, from) : sendApiDocument(guid, from),
  })
  const source = data?.source ?? ''
  return (
    <>
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          label={namedTexts.apiDocument}
          description={namedTexts.apiDocumentHelp}
          placeholder={source || 'https://shop.example/openapi.json'}
          style={{ flex: 1 }}
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <Button
          variant="default"
          loading={change.isPending}
          disabled={url.trim() === '' && source === ''}
          onClick={() => change.mutate(url.trim())}
        >
          {namedTexts.fetchDocument}
        </Button>
        <FileButton
          accept=".json,.yaml,.yml,application/json"
          onChange={(file) => file && change.mutate(file)}
        >
          {(props) => (
            <Button {...props} variant="default" disabled={change.isPending}>
              {namedTexts.sendFile}
            </Button>
          )}
        </FileButton>
      </Group>
      <Text size="sm" role="status" c={change.error ? 'red' : 'dimmed'} style={{ overflowWrap: 'anywhere' }}>
        {change.error ? messageOf(change.error) : about(data)}
        {change.data && change.data.changed > 0
          ? ` ${namedTexts.operationsChanged(change.data.changed)}`
          : ''}
      </Text>
      {data && data.left_out.length > 0 ? <LeftOut document={data} /> : null}
    </>
  )
}

/** What of the document no block offers. */
function LeftOut({ document }: { readonly document: ApiDocumentRecord }) {
  return (
    <details>
      <Text component="summary" size="sm">
        {namedTexts.leftOut(document.left_out_count)}
      </Text>
      {document.left_out.slice(0, 100).map(({ operation, what }) => (
        <Text key={`${operation} ${what}`} size="xs" c="dimmed">
          {operation === '' ? what : `${operation}: ${what}`}
        </Text>
      ))}
    </details>
  )
}

function about(document: ApiDocumentRecord | null | undefined): string {
  if (!document) return ''
  return namedTexts.documentHas(`${document.title} ${document.version}`.trim(), document.operations)
}
