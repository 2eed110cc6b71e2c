import { Button, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { startFrom } from '../../starters/start-from.ts'
import { type Starter, starters } from '../../starters/starters.ts'
import { startTexts } from '../../texts/start.ts'

/** Templates: each makes a blueprint that is saved and not active, and opens it. */
export function StarterCards() {
  const [, go] = useLocation()
  const [running, setRunning] = useState<{ readonly id: string; readonly share: number }>()
  const start = async (starter: Starter) => {
    setRunning({ id: starter.id, share: 0 })
    const guid = await startFrom(starter, (share) => setRunning({ id: starter.id, share }))
    if (guid === undefined) setRunning(undefined)
    else go(`/blueprints/${guid}`)
  }
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 4 }} spacing="sm">
      {starters.map((starter) => (
        <Stack key={starter.id} className="surface" p="md" gap="xs" justify="space-between">
          <div>
            <Title order={3} size="h5">
              {starter.title}
            </Title>
            <Text size="sm" c="dimmed">
              {starter.summary}
            </Text>
          </div>
          {running?.id === starter.id ? (
            <Progress value={running.share * 100} my={12} aria-label={startTexts.creating(starter.title)} />
          ) : (
            <Button
              variant="default"
              size="xs"
              disabled={running !== undefined}
              aria-label={startTexts.startFromThis(starter.title)}
              onClick={() => void start(starter)}
            >
              {startTexts.startFromThisText}
            </Button>
          )}
        </Stack>
      ))}
    </SimpleGrid>
  )
}
