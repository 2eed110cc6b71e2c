import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { screensTexts } from '../texts/screens.ts'

export function NotFoundScreen() {
  return (
    <Stack gap="xs" py="xl">
      <Title order={1}>{screensTexts.pageNotFound}</Title>
      <Text c="dimmed">{screensTexts.pageNotFoundText}</Text>
      <Anchor component={Link} href="/blueprints">
        {screensTexts.toTheBlueprints}
      </Anchor>
    </Stack>
  )
}
