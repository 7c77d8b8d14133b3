import { LogLevel, WebClient } from '@slack/web-api';

/** It can only POST, which the bench's server serves all the same. */
export function createCaller({ origin, apiKey }) {
  const client = new WebClient(apiKey, { slackApiUrl: `${origin}/api/v1/`, logLevel: LogLevel.ERROR });
  return (n) => client.apiCall('latest', { n });
}
