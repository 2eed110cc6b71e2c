import { Anchor, Stack, Text, Title } from '@mantine/core'
import { Link } from 'wouter'

export function NotFoundScreen() {
  return (
    <Stack gap="xs" py="xl">
      <Title order={1}>Page not found</Title>
      <Text c="dimmed">It may have been removed, or the link is incomplete.</Text>
      <Anchor component={Link} href="/blueprints">
        To the blueprints
      </Anchor>
    </Stack>
  )
}
