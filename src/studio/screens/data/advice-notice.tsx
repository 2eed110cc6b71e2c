import { Alert, Button, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { adviceQuery, canHelp } from '../../api/storages.ts'
import { dataTexts } from '../../texts/data.ts'

interface AdviceNoticeProps {
  readonly storage: string
  readonly onOpen: () => void
}

/** Says that searches on the storage read more than they need to; nothing while there is nothing to be done about it. */
export function AdviceNotice({ storage, onOpen }: AdviceNoticeProps) {
  const { data } = useQuery(adviceQuery(storage))
  const slow = data?.searches.filter(canHelp).length ?? 0
  if (slow === 0) return null
  return (
    <Alert color="sand" variant="light" p="xs" mb="sm">
      <Group justify="space-between" gap="sm">
        <Text size="sm">{dataTexts.slowSearches(slow)}</Text>
        <Button size="compact-sm" variant="default" onClick={onOpen}>
          {dataTexts.showSuggestedIndexes}
        </Button>
      </Group>
    </Alert>
  )
}
