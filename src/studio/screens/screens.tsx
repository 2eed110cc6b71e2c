import { Alert, Anchor, Button, Code, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Component, type ReactNode, Suspense } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import type { Blueprint } from '../../shared/api/blueprints/blueprints.ts'
import { isPartMissing } from '../api/api-error.ts'
import { search } from '../api/request.ts'
import { useScreenCount, useTabTitle } from '../controls/hooks.ts'
import { LoadingScreen } from '../controls/states.tsx'
import { controlsTexts, screensTexts } from '../texts/shell.ts'
import { startTexts } from '../texts/start.ts'
import { type Screen, screens } from './screen-registry.ts'

/** The screen of the address. One that breaks says so in its place, and the navigation stays usable. */
export function Screens() {
  return (
    <Switch>
      <Route path="/">
        <HomeScreen />
      </Route>
      {screens.map((screen) => (
        <Route key={screen.path} path={screen.path}>
          {(params) => <ScreenInPlace screen={screen} params={params} />}
        </Route>
      ))}
      <Route>
        <NotFoundScreen />
      </Route>
    </Switch>
  )
}

function ScreenInPlace({ screen, params }: { screen: Screen; params: Record<string, string | undefined> }) {
  useTabTitle(screen.title)
  const input: Record<string, string> = {}
  for (const [name, value] of Object.entries(params)) if (value !== undefined) input[name] = value
  const Component = screen.component
  return (
    <ScreenBoundary key={useScreenCount()}>
      <Suspense fallback={<LoadingScreen />}>
        <Component params={input} />
      </Suspense>
    </ScreenBoundary>
  )
}

function NotFoundScreen() {
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

/** Where one arrives: at the first steps while the cluster has no more than the example, else at the blueprints. */
function HomeScreen() {
  const { data, isError } = useQuery({
    queryKey: ['blueprints', startTexts.howMany],
    queryFn: async ({ signal }) =>
      (await search<Blueprint>('/blueprints/search', { limit: 0 }, signal)).total,
    retry: false,
  })
  if (data === undefined && !isError) return <LoadingScreen />
  return <Redirect to={data !== undefined && data <= 1 ? '/welcome' : '/blueprints'} replace />
}

interface State {
  readonly error: Error | undefined
}

/** Keeps a screen that broke to itself. React has error boundaries only as classes. */
class ScreenBoundary extends Component<{ readonly children: ReactNode }, State> {
  override state: State = { error: undefined }

  static getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error : new Error(String(error)) }
  }

  override componentDidCatch(error: unknown): void {
    reportError(error)
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Alert color="red" title={controlsTexts.screenFailed}>
        <Stack gap="sm" align="flex-start">
          <Text size="sm">
            {isPartMissing(error) ? controlsTexts.updatedMeanwhile : controlsTexts.studioFault}
          </Text>
          <Code block>{error.message}</Code>
          <Button size="xs" onClick={() => location.reload()}>
            {controlsTexts.reload}
          </Button>
        </Stack>
      </Alert>
    )
  }
}
