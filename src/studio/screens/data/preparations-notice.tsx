import { Alert, Group, Progress, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { PreparationRecord } from '../../../shared/api/data/storages.ts'
import { preparationsQuery } from '../../api/storages.ts'
import { dataTexts } from '../../texts/data.ts'

/** Indexes, free text and columns that the database builds for storages with many documents; nothing while there are none. */
export function PreparationsNotice() {
  const { data = [] } = useQuery(preparationsQuery)
  if (data.length === 0) return null
  return (
    <Alert color="petrol" variant="light" p="sm" mb="sm" title={dataTexts.preparing}>
      <Text size="sm">{dataTexts.preparingText}</Text>
      <Stack gap={6} mt="xs" component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
        {data.map((one) => (
          <PreparationRow key={`${one.kind} ${one.storage}`} preparation={one} />
        ))}
      </Stack>
    </Alert>
  )
}

function PreparationRow({ preparation }: { readonly preparation: PreparationRecord }) {
  const { storage, kind, done, total } = preparation
  const words = `${dataTexts.preparations[kind]} ${storage}`
  const part = total === 0 ? 0 : Math.min(100, Math.round((done / total) * 100))
  return (
    <Group component="li" gap="sm" wrap="wrap">
      <Text size="sm" flex="1 1 260px">
        {total === 0 ? words : dataTexts.preparedSoFar(words, done.toLocaleString(), total.toLocaleString())}
      </Text>
      <Progress value={part} flex="1 1 160px" aria-label={words} />
    </Group>
  )
}
