import type { ObjectSchema } from '../../policy/schema/schema.ts';

const typeMeta: ObjectSchema = {
  apiVersion: { type: 'string', description: 'The version of this schema.' },
  kind: { type: 'string', description: 'The kind.' },
  metadata: { type: 'object', description: 'Standard object metadata.' },
};

/** Data that policies share: objects of a kind, or the response to a call. */
export const globalContextSchema: ObjectSchema = {
  ...typeMeta,
  spec: {
    required: true,
    description: 'Where the data comes from: kubernetesResource or apiCall.',
    type: {
      object: {
        kubernetesResource: {
          description: 'All objects of a kind, followed by a watch.',
          type: {
            object: {
              group: { type: 'string', description: 'Its API group; empty for the core group.' },
              version: { type: 'string', required: true, description: 'Its version.' },
              resource: { type: 'string', required: true, description: 'Its plural, such as deployments.' },
              namespace: { type: 'string', description: 'One namespace; all when absent.' },
            },
          },
        },
        apiCall: {
          description: 'The answer to a call, repeated in an interval.',
          type: {
            object: {
              urlPath: {
                type: 'string',
                description: 'A path of the API server, as in `kubectl get --raw`.',
              },
              method: { type: 'string', enum: ['GET', 'POST'], description: 'The HTTP method.' },
              data: {
                description: 'The body of a POST.',
                type: {
                  list: {
                    object: {
                      key: { type: 'string', required: true, description: 'A member of the body.' },
                      value: { type: 'free', description: 'Its value.' },
                    },
                  },
                },
              },
              service: { type: 'object', description: 'A service other than the API server.' },
              jmesPath: { type: 'string', description: 'An expression over the answer.' },
              refreshInterval: {
                type: 'string',
                description: 'How often it is repeated, such as 10m; 10 minutes when absent.',
              },
              retryLimit: {
                type: 'integer',
                minimum: 1,
                description: 'How often a failed call is repeated.',
              },
            },
          },
        },
        projections: {
          description: 'Views of the data, read as `entry.name`.',
          type: {
            list: {
              object: {
                name: { type: 'string', required: true, description: 'The name of the view.' },
                jmesPath: { type: 'string', required: true, description: 'An expression over the data.' },
              },
            },
          },
        },
      },
    },
  },
};

/** Work for the background controller: objects to patch or to generate. */
export const updateRequestSchema: ObjectSchema = {
  ...typeMeta,
  spec: {
    required: true,
    description: 'What has to be done, and what caused it.',
    type: {
      object: {
        requestType: {
          type: 'string',
          enum: ['mutate', 'generate', 'cel-mutate', 'cel-generate'],
          description: 'The type of the rule.',
        },
        policy: { type: 'string', required: true, description: 'The policy: `name`, or `namespace/name`.' },
        rule: { type: 'string', description: 'The rule.' },
        resource: {
          description: 'The object that caused it.',
          type: {
            object: {
              apiVersion: { type: 'string', description: 'Its apiVersion.' },
              kind: { type: 'string', description: 'Its kind.' },
              namespace: { type: 'string', description: 'Its namespace.' },
              name: { type: 'string', description: 'Its name.' },
              uid: { type: 'string', description: 'Its uid.' },
            },
          },
        },
        ruleContext: { type: { list: 'object' }, description: 'Rules and their causes, for generate rules.' },
        deleteDownstream: { type: 'boolean', description: 'For generate rules.' },
        synchronize: { type: 'boolean', description: 'For generate rules.' },
        context: { type: 'object', description: 'The request and the user that caused it.' },
      },
    },
  },
};
