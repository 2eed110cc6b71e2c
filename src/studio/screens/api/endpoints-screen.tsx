import { Anchor, Button, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { type ApiDocument, type Operation, openApiQuery, operationsByTag } from '../../api/open-api.ts'
import { useOpened } from '../../controls/hooks.ts'
import { Icon } from '../../controls/icon.tsx'
import { saveFile } from '../../controls/save-file.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { MethodTag } from '../../controls/tags.tsx'
import { referenceTexts } from '../../texts/reference.ts'
import { OperationView } from './operation-view.tsx'
import classes from './two-columns.module.css'

/** What can be asked of this cluster: endpoints of blueprints first, then Quoin's own; each can be tried. */
export function EndpointsScreen() {
  const { data: document, error, refetch } = useQuery(openApiQuery)
  const [open, setOpen] = useOpened()
  const [typed, setTyped] = useState('')
  const byTag = useMemo(
    () => (document ? operationsByTag(document) : new Map<string, Operation[]>()),
    [document],
  )
  const shown = useMemo(() => matching(byTag, typed), [byTag, typed])
  const all = [...byTag.values()].flat()
  const opened = all.find(({ id }) => id === open) ?? all[0]
  if (error) return <ErrorNotice error={error} title={referenceTexts.couldNotLoadApi} onRetry={refetch} />
  if (!document) return <LoadingScreen />
  return (
    <>
      <ScreenHead
        title={referenceTexts.api}
        about={
          <>
            {referenceTexts.apiAbout}{' '}
            <Anchor href="/docs" target="_blank" inherit underline="always">
              {referenceTexts.docs}
            </Anchor>
            .
          </>
        }
      >
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          onClick={() => saveFile('openapi.json', asFile(document))}
        >
          {referenceTexts.openapi}
        </Button>
      </ScreenHead>
      <div className={classes.columns}>
        <div className={classes.list}>
          <TextInput
            aria-label={referenceTexts.findAnEndpoint}
            placeholder={referenceTexts.findAnEndpoint}
            leftSection={<Icon name="search" size={16} />}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            mb="sm"
          />
          <OperationList byTag={shown} open={opened?.id ?? ''} onOpen={setOpen} />
        </div>
        {opened ? (
          <OperationView key={opened.id} operation={opened} document={document} />
        ) : (
          <EmptyState icon="api" title={referenceTexts.noEndpoint} />
        )}
      </div>
    </>
  )
}

/** What was read with the token of who looks; the address without one gives less. */
const asFile = (document: ApiDocument) =>
  new Blob([JSON.stringify(document, undefined, 2)], { type: 'application/json' })

function matching(byTag: ReadonlyMap<string, readonly Operation[]>, typed: string) {
  const words = typed.toLowerCase().split(/\s+/)
  const fits = ({ id, summary = '', tags = [] }: Operation) => {
    const text = `${id} ${summary} ${tags.join(' ')}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  return [...byTag].flatMap(([tag, list]) => {
    const found = list.filter(fits)
    return found.length > 0 ? [{ tag, operations: found }] : []
  })
}

interface OperationListProps {
  readonly byTag: readonly { readonly tag: string; readonly operations: readonly Operation[] }[]
  readonly open: string
  readonly onOpen: (id: string) => void
}

function OperationList({ byTag, open, onOpen }: OperationListProps) {
  if (byTag.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {referenceTexts.noMatch}
      </Text>
    )
  return (
    <nav aria-label={referenceTexts.endpoints}>
      {byTag.map(({ tag, operations }) => (
        <section key={tag}>
          <h2 className={classes.tag}>{tag}</h2>
          <ul className={classes.items}>
            {operations.map((operation) => (
              <li key={operation.id}>
                <button
                  type="button"
                  className={classes.item}
                  aria-current={operation.id === open}
                  title={operation.id}
                  onClick={() => onOpen(operation.id)}
                >
                  <MethodTag method={operation.method} />
                  <span>{operation.summary ?? operation.path}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}
