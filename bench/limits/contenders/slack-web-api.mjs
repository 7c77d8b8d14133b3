import { LogLevel, WebClient } from '@slack/web-api';

/** It sends POST only; the server of the bench ignores the method. */
export function createCaller({ origin, apiKey }) {
  const client = new WebClient(apiKey, { slackApiUrl: `${origin}/api/v1/`, logLevel: LogLevel.ERROR });
  return (n) => client.apiCall('latest', { n });
}
