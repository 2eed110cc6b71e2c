import { Anchor, Badge, Button, Code, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { SlowSearchRecord, StorageAdvice } from '../../../shared/api/data/storages.ts'
import { adviceQuery, canHelp, createTextIndex } from '../../api/storages.ts'
import { duration } from '../../controls/amounts.ts'
import { Facts } from '../../controls/facts.tsx'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { EmptyState, ErrorNotice, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { dataTexts } from '../../texts/data.ts'
import { fieldsTexts } from '../../texts/fields.ts'

interface AdviceDrawerProps {
  readonly storage: string
  readonly opened: boolean
  readonly onClose: () => void
}

/** How searches on a storage fare: which were slow, what they read, the index that would help, and those that there are. */
export function AdviceDrawer({ storage, opened, onClose }: AdviceDrawerProps) {
  const { data, error, refetch } = useQuery({ ...adviceQuery(storage), enabled: opened })
  return (
    <Drawer opened={opened} onClose={onClose} title={dataTexts.searchesAndIndexes}>
      {error ? <ErrorNotice error={error} title={dataTexts.couldNotLoad} onRetry={refetch} /> : null}
      {data ? <Advice {...data} storage={storage} /> : error ? null : <LoadingScreen />}
    </Drawer>
  )
}

function Advice({ storage, searches, indexes, text_index }: StorageAdvice & { readonly storage: string }) {
  return (
    <Stack gap="lg">
      {searches.length === 0 ? (
        <EmptyState icon="check" title={dataTexts.noSlowSearches}>
          <Text size="sm">{dataTexts.noSlowSearchesText}</Text>
        </EmptyState>
      ) : (
        <Text size="sm" c="dimmed">
          {dataTexts.slowSearchesText}
        </Text>
      )}
      {searches
        .toSorted((a, b) => Number(canHelp(b)) - Number(canHelp(a)))
        .map((one) => (
          <SlowSearch key={`${one.kind} ${one.filter} ${JSON.stringify(one.sort)}`} search={one} />
        ))}
      <section>
        <Title order={3} size="h5" mb={6}>
          {dataTexts.existingIndexes}
        </Title>
        <Text size="sm" c="dimmed" mb={6}>
          {dataTexts.existingIndexesText}
        </Text>
        <Group gap={6}>
          {indexes.map(({ fields, unique }) => (
            <Code key={fields.join()}>
              {fields.map((field) => metaWords.get(field) ?? field).join(', ')}
              {unique ? dataTexts.unique : ''}
            </Code>
          ))}
          {text_index ? <Code>{dataTexts.freeText}</Code> : null}
          {indexes.length === 0 && !text_index ? <Text size="sm">{dataTexts.noneYet}</Text> : null}
          <TextIndexAction storage={storage} />
        </Group>
      </section>
    </Stack>
  )
}

/** Of indexes that Quoin makes by itself. */
const metaWords: ReadonlyMap<string, string> = new Map([
  ['_meta.expiry', dataTexts.ofExpiry],
  ['_meta.removed', dataTexts.ofRemoval],
])

function SlowSearch({ search }: { readonly search: SlowSearchRecord }) {
  const { kind, filter, sort, times, milliseconds, rows, last, index, text_index, brought_by, why, how } =
    search
  const order = sort
    ?.map(({ field, order: way }) => (way === 'desc' ? dataTexts.down(field) : field))
    .join(dataTexts.thenBy)
  return (
    <section className="surface" style={{ padding: 14 }}>
      <Group gap={8} mb={8} align="baseline">
        <Badge color="gray">{kind === 'count' ? dataTexts.count : dataTexts.search}</Badge>
        <Code>{filter === '' ? dataTexts.allDocuments : filter}</Code>
      </Group>
      <Text size="sm" mb={8}>
        {why}
      </Text>
      <Facts
        facts={{
          [dataTexts.sorted]:
            kind === 'count'
              ? ''
              : sort === null
                ? dataTexts.bestMatchesFirst
                : order || dataTexts.newestFirst,
          [dataTexts.slowest]: (
            <span className="numbers">
              {dataTexts.readDocuments(duration(milliseconds), rows.toLocaleString())}
            </span>
          ),
          [dataTexts.slow]: (
            <span>
              {dataTexts.timesSlow(times, times.toLocaleString())} <Time at={last} />
            </span>
          ),
          [dataTexts.indexThatWouldHelp]: index ? (
            <Code>{index.join(', ')}</Code>
          ) : text_index ? (
            <Code>{dataTexts.freeText}</Code>
          ) : (
            ''
          ),
          [dataTexts.requiredBy]:
            brought_by.length === 0
              ? ''
              : brought_by.map(({ guid, name }) => (
                  <Anchor key={guid} component={Link} href={`/blueprints/${guid}`} size="sm" mr={8}>
                    {name}
                  </Anchor>
                )),
        }}
      />
      <Text size="sm" mt={8} fw={550}>
        {how}
      </Text>
    </section>
  )
}

/** Creates the text index of a storage; nothing where there is one. */
export function TextIndexAction({ storage }: { readonly storage: string }) {
  const { data } = useQuery(adviceQuery(storage))
  const [isMaking, setMaking] = useState(false)
  if (!data || data.text_index) return null
  const make = async () => {
    setMaking(true)
    try {
      await createTextIndex(storage)
      notifyDone(fieldsTexts.textIndexCreated)
    } catch (error) {
      notifyFailed(fieldsTexts.textIndexFailed, error)
    } finally {
      setMaking(false)
    }
  }
  return (
    <Button
      size="compact-sm"
      variant="default"
      leftSection={<Icon name="search" size={14} />}
      loading={isMaking}
      title={fieldsTexts.textIndexHelp}
      onClick={() => void make()}
    >
      {fieldsTexts.textIndex}
    </Button>
  )
}
